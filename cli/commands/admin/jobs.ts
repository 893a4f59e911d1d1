import { defineCommand } from 'citty'
import { toTimestamp } from '../../../src/core/clock.ts'
import {
  dropJob,
  findJob,
  type Job,
  listJobs,
  retryAllJobs,
  retryJob,
} from '../../../src/platform/outbox/outbox.ts'
import { outboxTopics } from '../../../src/process/release.ts'
import { command } from '../../command.ts'
import { confirm, yesArgument } from '../../confirm.ts'
import { UsageError } from '../../errors.ts'
import { print, record, table } from '../../output.ts'
import { cutToLimit, limitArgument, parseLimit } from '../../values.ts'
import { type Act, administer, withDatabase } from './administer.ts'

function toRecord({ _id, topic, attempts, parked, due_at, last_error, created_at }: Job) {
  return {
    id: String(_id),
    topic,
    state: parked ? 'parked' : 'pending',
    attempts,
    due_at: toTimestamp(due_at),
    last_error,
    created_at: toTimestamp(created_at),
  }
}

/** Changes one job in a transaction with its audit entry. */
function changeJob(action: string, id: string, change: (act: Act, found: Job) => Promise<Job>): Promise<Job> {
  const work = async (act: Act) => {
    const found = await findJob(act.db, id)
    return act.together(found.host_id, () => change(act, found))
  }
  return administer(action, `job ${id}`, work, { record: 'caller' })
}

const list = command({
  meta: { name: 'list', description: 'List background jobs: parked ones first, then by age' },
  examples: ['partnerctl jobs list'],
  args: limitArgument('jobs'),
  async run({ args }) {
    const limit = parseLimit(args.limit)
    await withDatabase(async ({ db }) => {
      const found = await listJobs(db, limit + 1)
      const rows = cutToLimit(found, limit, () => 'parked jobs and the oldest are shown first').map(toRecord)
      print(args, rows, () =>
        table(
          ['ID', 'TOPIC', 'STATE', 'ATTEMPTS', 'DUE', 'LAST ERROR'],
          rows.map((row) => [row.id, row.topic, row.state, row.attempts, row.due_at, row.last_error]),
        ),
      )
    })
  },
})

const retry = command({
  meta: { name: 'retry', description: 'Give parked jobs all their attempts again' },
  examples: ['partnerctl jobs retry 6561c0ffee00000000000001', 'partnerctl jobs retry --all'],
  args: {
    id: { type: 'positional', required: false, description: 'Id of the job' },
    all: { type: 'boolean', description: 'All parked jobs' },
  },
  async run({ args }) {
    const { id, all } = args
    if (Boolean(id) === Boolean(all)) throw new UsageError('Give the id of a job, or use --all')
    if (id) {
      const job = await changeJob('jobs retry', id, ({ db, clock }, found) => retryJob(db, clock(), found))
      return print(args, toRecord(job), record)
    }
    const retryAll = ({ db, clock }: Act) => retryAllJobs(db, clock())
    const retried = await administer('jobs retry', 'all parked jobs', retryAll, { record: 'upfront' })
    print(args, { retried }, () => `${retried} jobs will be tried again`)
  },
})

const drop = command({
  meta: { name: 'drop', description: 'Drop a job, together with what waits for it (such as rates)' },
  examples: ['partnerctl jobs drop 6561c0ffee00000000000001 --yes'],
  args: {
    id: { type: 'positional', required: true, description: 'Id of the job' },
    ...yesArgument,
  },
  async run({ args }) {
    await confirm(args, `Job ${args.id} will never run.`)
    const job = await changeJob('jobs drop', args.id, (act, found) =>
      dropJob(act.db, found, outboxTopics(act)),
    )
    print(args, toRecord(job), record)
  },
})

export const jobs = defineCommand({
  subCommands: { list, retry, drop },
})

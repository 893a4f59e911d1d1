import { defineCommand } from 'citty'
import { toTimestamp } from '../../src/clock.ts'
import { type Job, listJobs, retryJob } from '../../src/infra/outbox.ts'
import { command } from '../command.ts'
import { administer, withDatabase } from '../database.ts'
import { print, record, table } from '../output.ts'

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

const list = command({
  meta: { name: 'list', description: 'List what waits in the outbox, parked jobs first' },
  async run({ args }) {
    await withDatabase(async ({ db }) => {
      const rows = (await listJobs(db)).map(toRecord)
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
  meta: { name: 'retry', description: 'Give a parked job all its tries again' },
  args: { id: { type: 'positional', required: true, description: 'Id of the job' } },
  async run({ args }) {
    await administer('jobs retry', `job ${args.id}`, async ({ db, clock }) => {
      print(args, toRecord(await retryJob(db, clock(), args.id)), record)
    })
  },
})

export const jobs = defineCommand({
  meta: { name: 'jobs', description: 'See and retry background jobs (administrator)' },
  subCommands: { list, retry },
})

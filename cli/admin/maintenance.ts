import { defineCommand } from 'citty'
import { reencryptProviderKeys } from '../../src/access/provider-keys/store.ts'
import { reencryptWebhookSecrets } from '../../src/changes/webhooks/store.ts'
import { toTimestamp } from '../../src/core/clock.ts'
import { readConfig } from '../../src/core/config.ts'
import { seedDemo } from '../../src/operations/demo.ts'
import { models } from '../../src/operations/release.ts'
import {
  deleteJob,
  findJob,
  type Job,
  listJobs,
  retryAllJobs,
  retryJob,
} from '../../src/platform/outbox/outbox.ts'
import { reencryptAll } from '../../src/platform/secrets/secret-box.ts'
import { moveSecretCheck } from '../../src/platform/secrets/secret-check.ts'
import { signingKeyModel } from '../../src/platform/secrets/signing-keys.ts'
import { storedSecretModel } from '../../src/platform/secrets/stored-secret.ts'
import { openSecrets } from '../../src/process/open-context.ts'
import { clearSandboxes } from '../../src/sandbox/lifecycle/end.ts'
import { sandboxDatabase } from '../../src/sandbox/store.ts'
import { command, flag, positional } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { print, record } from '../shared/output.ts'
import { limitArgument } from '../shared/values.ts'
import { type Act, administer, confirm, printEntries, yesArgument } from './administer.ts'
import { adviseToSave, revokeUnseen, showOrTakeBack } from './key-options.ts'

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

/** Changes one job and writes the audit entry in the same transaction. */
function changeJob(action: string, id: string, change: (act: Act, found: Job) => Promise<Job>): Promise<Job> {
  const work = async (act: Act) => {
    const found = await findJob(act.db, id)
    return act.inAuditedTransaction(found.owner_id, () => change(act, found))
  }
  return administer(action, `job ${id}`, work, { record: 'caller' })
}

const list = command({
  meta: { name: 'list', description: 'List background jobs: parked ones first, then by age' },
  examples: ['partnerctl jobs list'],
  args: limitArgument('jobs'),
  run: ({ args }) =>
    printEntries(args, {
      find: ({ db }, limit) => listJobs(db, limit),
      toRow: toRecord,
      hint: () => 'parked jobs and the oldest are shown first',
      columns: {
        ID: 'id',
        TOPIC: 'topic',
        STATE: 'state',
        ATTEMPTS: 'attempts',
        DUE: 'due_at',
        'LAST ERROR': 'last_error',
      },
    }),
})

const retry = command({
  meta: { name: 'retry', description: 'Retry parked jobs with a full set of attempts' },
  examples: ['partnerctl jobs retry 6561c0ffee00000000000001', 'partnerctl jobs retry --all'],
  args: {
    id: { type: 'positional', required: false, description: 'Id of the job' },
    all: flag('All parked jobs'),
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
  meta: { name: 'drop', description: 'Drop a job, which is then never run' },
  examples: ['partnerctl jobs drop 6561c0ffee00000000000001 --yes'],
  args: {
    id: positional('Id of the job'),
    ...yesArgument,
  },
  async run({ args }) {
    await confirm(args, `Job ${args.id} will never run.`)
    const job = await changeJob('jobs drop', args.id, async ({ db }, found) => {
      await deleteJob(db, found)
      return found
    })
    print(args, toRecord(job), record)
  },
})

export const jobs = defineCommand({ subCommands: { list, retry, drop } })

const clear = command({
  meta: { name: 'clear', description: 'Clear the sandboxes of all keys' },
  examples: ['partnerctl sandbox clear --yes'],
  args: yesArgument,
  async run({ args }) {
    await confirm(args, 'All sandboxes will be cleared.')
    const clearAll = ({ db, clock }: Act) => clearSandboxes({ db: sandboxDatabase(db), clock, models })
    const cleared = await administer('sandbox clear', 'all sandboxes', clearAll, { record: 'upfront' })
    print(args, { cleared }, () => `${cleared} sandboxes were cleared`)
  },
})

export const sandbox = defineCommand({ subCommands: { clear } })

const rotate = command({
  meta: {
    name: 'rotate',
    description: 'Re-encrypt stored secrets under SECRET_KEY; the previous one is in OTHER_SECRET_KEYS',
  },
  examples: ['SECRET_KEY=… OTHER_SECRET_KEYS=… partnerctl secrets rotate'],
  async run({ args }) {
    if (!readConfig(process.env, ['MONGODB_URL']).secretKey)
      throw new UsageError('Set SECRET_KEY to the new secret and OTHER_SECRET_KEYS to the previous one')
    const rotateAll = async ({ db, clock, config }: Act) => {
      const secrets = await openSecrets(config, db)
      let count = await reencryptProviderKeys(db, clock, secrets)
      for (const each of [db, sandboxDatabase(db)]) count += await reencryptWebhookSecrets(each, secrets)
      for (const model of [signingKeyModel(db), storedSecretModel(db)]) await reencryptAll(model, secrets)
      await moveSecretCheck(db, secrets)
      return count
    }
    const reencrypted = await administer('secrets rotate', 'provider keys', rotateAll, { record: 'upfront' })
    print(args, { reencrypted }, () => `${reencrypted} provider keys were re-encrypted`)
  },
})

export const secrets = defineCommand({ subCommands: { rotate } })

export const seed = command({
  examples: ['partnerctl seed --json'],
  async run({ args }) {
    const work = async (act: Act) => {
      const { hostId, keyId, key, booking } = await seedDemo(act)
      const shown = { host_id: hostId, key, user_id: booking.user_id, listing_id: booking.listing_id }
      await showOrTakeBack({
        name: `key ${keyId}`,
        show: () => print(args, shown, record),
        takeBack: () => revokeUnseen(act, keyId),
      })
    }
    await administer('seed', 'demo host', work, { record: 'upfront' })
    adviseToSave()
  },
})

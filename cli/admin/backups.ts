import { resolve } from 'node:path'
import { endOverlaps } from '../../src/access/keys/store.ts'
import { findEnabledWebhooks } from '../../src/changes/webhooks/store.ts'
import { type SwitchContext, turnOff } from '../../src/changes/webhooks/turn-off.ts'
import { toTimestamp } from '../../src/core/clock.ts'
import { readConfig, serversOf } from '../../src/core/config.ts'
import {
  type HighWaterMarks,
  readHighWaterMarks,
  type SkipDistance,
  type SkipResult,
  skipPast,
} from '../../src/operations/after-restore.ts'
import { migrations } from '../../src/operations/migrations.ts'
import { release } from '../../src/operations/release.ts'
import { type Db, databaseNameOf } from '../../src/platform/mongo/connection.ts'
import {
  backUpEmbedded,
  readBackupRecord,
  requireEmptyFolder,
  requireNotRunning,
  restoreEmbedded,
} from '../../src/platform/mongo/server/embedded-backup.ts'
import {
  FutureSchemaError,
  latestVersion,
  readSchemaState,
} from '../../src/platform/mongo/server/schema-version.ts'
import { isAnyLeaseHeld } from '../../src/platform/mongo/turns/lease.ts'
import { sandboxDatabase } from '../../src/sandbox/store.ts'
import { command, positional } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { note, print, record } from '../shared/output.ts'
import { parseCount, parseDuration } from '../shared/values.ts'
import {
  type Act,
  type Administration,
  administer,
  confirm,
  withDatabase,
  yesArgument,
} from './administer.ts'

/** @throws UsageError if the service does not run its own MongoDB */
function requireEmbedded(): { dataDir: string } {
  const { mongodbUrl, dataDir } = readConfig(process.env, [])
  if (mongodbUrl)
    throw new UsageError(
      'MONGODB_URL is set: use the tools that come with MongoDB, see "Backups" in docs/operations.md',
    )
  return { dataDir }
}

/** @throws UsageError for a blank path, which would mean the current folder */
function readFolder(text: string): string {
  if (text.trim() === '') throw new UsageError('Argument "folder" must not be blank')
  return resolve(text)
}

export const backup = command({
  meta: {
    name: 'backup',
    description: "Copy the embedded database's data into a new folder while the service keeps running",
  },
  examples: ['partnerctl db backup ./backups/monday'],
  args: {
    folder: positional('Folder that does not exist yet, or is empty'),
  },
  async run({ args }) {
    const { dataDir } = requireEmbedded()
    const folder = readFolder(args.folder)
    await requireEmptyFolder(folder)
    const copy = async ({ db }: Act) => {
      const { oldest } = await readSchemaState(db, release)
      return backUpEmbedded(db, dataDir, folder, oldest)
    }
    const { completed_at } = await administer('db backup', folder, copy, { record: 'upfront' })
    print(args, { folder, completed_at }, record)
  },
})

/**
 * Returns the high-water marks of the data to be replaced, or the error if the data is missing or unreadable, because a
 * restore must also replace data that is damaged.
 */
function readBefore() {
  const read = async ({ db }: Administration) => ({
    live: await readHighWaterMarks(db),
    sandbox: await readHighWaterMarks(sandboxDatabase(db)),
  })
  return withDatabase(read, { skipMigrations: true }).catch((error: Error) => error)
}

export const restore = command({
  meta: {
    name: 'restore',
    description: 'Replace the embedded database with a backup and make it safe to serve (after-restore)',
  },
  examples: ['partnerctl db restore ./backups/monday --yes'],
  args: {
    folder: positional('Folder created by "db backup"'),
    ...yesArgument,
  },
  async run({ args }) {
    const { dataDir } = requireEmbedded()
    const folder = readFolder(args.folder)
    const { completed_at, oldest_schema_version: oldest } = await readBackupRecord(folder)
    const known = latestVersion(migrations)
    if (oldest > known) throw new FutureSchemaError(oldest, known)
    await confirm(args, `Data stored since ${completed_at} will no longer be served.`)
    await requireNotRunning(dataDir)
    const found = await readBefore()
    const aside = await restoreEmbedded(folder, dataDir, new Date())
    if (aside) note(`The previous data was moved to ${aside}`)
    if (aside && found instanceof Error)
      note(
        `The previous data could not be read (${found.message}): ids and versions continue from the backup`,
      )
    const before = found instanceof Error ? undefined : found
    const move = (act: Act) => makeSafe(act, defaultDistance, before)
    const moved = await administer('db restore', folder, move, { record: 'upfront' })
    print(args, { folder, completed_at, ...toRecord(moved) }, record)
    adviseOperator()
  },
})

/** Default distances by which the command moves versions and ids ahead. */
const defaultDistance: SkipDistance = { seconds: 86_400, ids: 1_000_000 }

const maxSeconds = 365 * 86_400
/** Maximum value of `--ids`, which keeps ids far below 2^53 no matter how often a database is restored. */
const maxIds = 1_000_000_000

/** The changes made to a restored database. */
interface RestoreResult extends SkipResult {
  webhooksOff: number
  overlapsEnded: number
}

/**
 * Makes a restored database safe to serve. Moves versions and ids ahead on live data and in the sandbox, because
 * partners who test in the sandbox rely on its versions and ids as well. A restore also brings back deleted webhooks
 * and replaced secrets. All webhooks are therefore turned off until their partners turn them back on, and secrets that
 * a rotation was replacing become invalid.
 */
async function makeSafe(
  { db, clock }: Act,
  distance: SkipDistance,
  before?: { live: HighWaterMarks; sandbox: HighWaterMarks },
): Promise<RestoreResult> {
  const sandbox = sandboxDatabase(db)
  await skipPast(sandbox, clock, distance, before?.sandbox)
  const moved = await skipPast(db, clock, distance, before?.live)
  await turnAllOff({ db: sandbox, clock, environment: { name: 'sandbox' } })
  const webhooksOff = await turnAllOff({ db, clock, environment: { name: 'live' } })
  return { ...moved, webhooksOff, overlapsEnded: await endOverlaps(db, clock()) }
}

async function turnAllOff(app: SwitchContext): Promise<number> {
  const all = await findEnabledWebhooks(app.db)
  for (const webhook of all) await turnOff(app, webhook, { reason: 'administrator' })
  return all.length
}

/** Converts the changes to the record that the commands print. */
function toRecord({ clocks, versions_after, sequences, webhooksOff, overlapsEnded }: RestoreResult) {
  const ids = Object.fromEntries(Object.entries(sequences).map(([name, id]) => [`${name}_ids_after`, id]))
  return {
    hosts: clocks,
    versions_after: toTimestamp(versions_after),
    ...ids,
    webhooks_turned_off: webhooksOff,
    key_overlaps_ended: overlapsEnded,
  }
}

/** Reminds the operator of changes made since the backup, which the restored database does not contain. */
function adviseOperator(): void {
  note('Keys and hosts are as they were at the time of the backup: repeat any revocations made since then')
  note('Keys that were rotated since then accept their previous secrets again: repeat the rotations')
  note(
    'All webhooks are off, including webhooks that were deleted since then: partners must turn theirs on again and are told about the gap',
  )
  note(
    'Guests who were erased since then are back: run "partnerctl guests erase --from-receipts" before you start the service',
  )
  note('Partners must read the whole feed again and compare: see "After a restore" in the documentation')
}

/** @throws Error if a running service uses the database, because the command may have been given the wrong address */
async function requireStopped(databases: Db[], now: Date, name: string): Promise<void> {
  const held = await Promise.all(databases.map((db) => isAnyLeaseHeld(db, now)))
  if (held.includes(true))
    throw new Error(
      `A service uses ${name}: nothing was changed. Stop all its processes; one that was killed counts for 10 s`,
    )
}

export const afterRestore = command({
  meta: {
    name: 'after-restore',
    description:
      'Make a database restored from a backup safe to serve: moves versions and ids ahead, turns webhooks off, invalidates replaced key secrets',
  },
  examples: ['partnerctl db after-restore', 'partnerctl db after-restore --ahead 7d'],
  args: {
    ahead: {
      type: 'string',
      default: `${defaultDistance.seconds}s`,
      description:
        'How far to move versions ahead of the clock; in seconds, it must exceed the number of changes any host has made since the backup',
    },
    ids: {
      type: 'string',
      default: String(defaultDistance.ids),
      description: 'Number of ids of each kind to skip; must exceed the number assigned since the backup',
    },
    ...yesArgument,
  },
  async run({ args }) {
    const seconds = Math.ceil(parseDuration(args.ahead))
    if (seconds > maxSeconds) throw new UsageError('Option --ahead must be at most 365d')
    const ids = parseCount(args.ids, 'ids', maxIds)
    const { mongodbUrl, dataDir } = readConfig(process.env, ['MONGODB_URL'])
    // A running process would keep using the ids and clocks in its memory.
    const database = mongodbUrl ? `${serversOf(mongodbUrl)}/${databaseNameOf(mongodbUrl)}` : dataDir
    if (!mongodbUrl) await requireNotRunning(dataDir)
    else await withDatabase(({ db, clock }) => requireStopped([db, sandboxDatabase(db)], clock(), database))
    await confirm(args, `Versions and ids of ${database} will be moved ahead, and its webhooks turned off.`)
    note(`Database: ${database}`)
    const move = (act: Act) => makeSafe(act, { seconds, ids })
    const moved = await administer('db after-restore', `${args.ahead}, ${ids} ids`, move, {
      record: 'upfront',
    })
    print(args, toRecord(moved), record)
    adviseOperator()
  },
})

import { endOverlaps } from '../../../../src/access/keys/store.ts'
import { findWebhooksOn } from '../../../../src/changes/webhooks/store.ts'
import { switchWebhook } from '../../../../src/changes/webhooks/switch.ts'
import { toTimestamp } from '../../../../src/core/clock.ts'
import { readConfig } from '../../../../src/core/config.ts'
import { requireUnserved } from '../../../../src/platform/mongo/embedded-backup.ts'
import {
  type Distance,
  type HighWaterMarks,
  type SkippedPast,
  skipPast,
} from '../../../../src/process/after-restore.ts'
import { sandboxDatabase } from '../../../../src/sandbox/store.ts'
import { command } from '../../../command.ts'
import { confirm, yesArgument } from '../../../confirm.ts'
import { UsageError } from '../../../errors.ts'
import { note, print, record } from '../../../output.ts'
import { parseCount, parseDuration } from '../../../values.ts'
import { type Act, administer } from '../administer.ts'

/** Default distance by which versions and ids move ahead. */
export const defaultDistance: Distance = { seconds: 86_400, ids: 1_000_000 }

const maxSeconds = 365 * 86_400
/** Maximum value of `--ids`. It keeps ids far below 2^53 no matter how often a database is restored. */
const maxIds = 1_000_000_000

/** The changes made to a restored database. */
export interface MadeSafe extends SkippedPast {
  webhooksOff: number
  overlapsEnded: number
}

/**
 * Makes a restored database safe to serve. Moves versions and ids ahead in both databases, because those of the sandbox
 * matter just as much to the partners who test with them. A restore also brings back deleted webhooks and replaced
 * secrets. All webhooks are therefore turned off until their partners turn them on, and secrets that a rotation was
 * replacing become invalid.
 */
export async function makeSafe(
  { db, clock }: Act,
  distance: Distance,
  before?: { live: HighWaterMarks; sandbox: HighWaterMarks },
): Promise<MadeSafe> {
  const sandbox = sandboxDatabase(db)
  await skipPast(sandbox, clock, distance, before?.sandbox)
  const moved = await skipPast(db, clock, distance, before?.live)
  await turnAllOff({ db: sandbox, clock, environment: { name: 'sandbox' } })
  const webhooksOff = await turnAllOff({ db, clock, environment: { name: 'live' } })
  return { ...moved, webhooksOff, overlapsEnded: await endOverlaps(db, clock()) }
}

async function turnAllOff(app: Parameters<typeof switchWebhook>[0]): Promise<number> {
  const all = await findWebhooksOn(app.db)
  for (const webhook of all) await switchWebhook(app, webhook, { reason: 'administrator' })
  return all.length
}

/** Converts the changes to the record that the commands print. */
export function toRecord({ clocks, versions_after, sequences, webhooksOff, overlapsEnded }: MadeSafe) {
  const ids = Object.fromEntries(Object.entries(sequences).map(([name, id]) => [`${name}_ids_after`, id]))
  return {
    ...{ hosts: clocks, versions_after: toTimestamp(versions_after), ...ids },
    ...{ webhooks_turned_off: webhooksOff, key_overlaps_ended: overlapsEnded },
  }
}

/** Reminds the operator of changes since the backup that the database cannot know. */
export function adviseOperator(): void {
  note('Keys and hosts are as they were at the time of the backup: revoke again what was revoked since')
  note('Keys that were rotated since are valid with their secrets of before: rotate again what was rotated')
  note(
    'All webhooks are off, also those that were deleted since: partners turn theirs on again, and learn of the gap',
  )
  note(
    'Guests who were erased since are back: "partnerctl guests erase --from-receipts" before anything is served',
  )
  note('Partners read the whole feed once more and compare: see "After a restore" in the documentation')
}

export const afterRestore = command({
  meta: {
    name: 'after-restore',
    description:
      'Make a database restored from a backup safe to serve: moves versions and ids ahead, turns webhooks off, ends overlaps of keys',
  },
  examples: ['partnerctl db after-restore', 'partnerctl db after-restore --ahead 7d'],
  args: {
    ahead: {
      type: 'string',
      default: `${defaultDistance.seconds}s`,
      description:
        'How far versions go ahead of the clock: in seconds, more than a host has changes since the backup',
    },
    ids: {
      type: 'string',
      default: String(defaultDistance.ids),
      description: 'How many ids of each kind are left out: more than were given out since the backup',
    },
    ...yesArgument,
  },
  async run({ args }) {
    const seconds = Math.ceil(parseDuration(args.ahead))
    if (seconds > maxSeconds) throw new UsageError('Option --ahead must be at most 365d')
    const ids = parseCount(args.ids, 'ids', maxIds)
    const { mongodbUrl, dataDir } = readConfig(process.env, ['MONGODB_URL'])
    // A running process holds ids and clocks in memory.
    if (!mongodbUrl) await requireUnserved(dataDir)
    await confirm(args, 'Versions and ids go ahead; no process of the service may be running.')
    const move = (act: Act) => makeSafe(act, { seconds, ids })
    const moved = await administer('db after-restore', `${args.ahead}, ${ids} ids`, move, {
      record: 'upfront',
    })
    print(args, toRecord(moved), record)
    adviseOperator()
  },
})

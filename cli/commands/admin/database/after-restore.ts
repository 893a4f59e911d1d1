import { toTimestamp } from '../../../../src/clock.ts'
import { readConfig } from '../../../../src/config.ts'
import { requireUnserved } from '../../../../src/platform/mongo/embedded-backup.ts'
import { sandboxDatabase } from '../../../../src/sandbox/store.ts'
import {
  type Distance,
  type GivenOut,
  type MovedAhead,
  moveAhead,
} from '../../../../src/server/after-restore.ts'
import { command } from '../../../command.ts'
import { confirm, yesArgument } from '../../../confirm.ts'
import { UsageError } from '../../../errors.ts'
import { note, print, record } from '../../../output.ts'
import { parseCount, parseDuration } from '../../../values.ts'
import { type Act, administer } from '../administer.ts'

/** How far ahead, unless told otherwise. */
export const defaultDistance: Distance = { seconds: 86_400, ids: 1_000_000 }

const furthestSeconds = 365 * 86_400
/** Ids stay far below 2^53, however often a database is restored. */
const mostIds = 1_000_000_000

/** Moves both databases ahead; the sandbox's pollers and ids matter as much to who tries them. */
export async function moveAllAhead(
  { db, clock }: Act,
  distance: Distance,
  before?: { live: GivenOut; sandbox: GivenOut },
): Promise<MovedAhead> {
  await moveAhead(sandboxDatabase(db), clock, distance, before?.sandbox)
  return moveAhead(db, clock, distance, before?.live)
}

/** What is shown of it. */
export function toRecord({ clocks, versions_after, sequences }: MovedAhead) {
  const ids = Object.fromEntries(Object.entries(sequences).map(([name, id]) => [`${name}_ids_after`, id]))
  return { hosts: clocks, versions_after: toTimestamp(versions_after), ...ids }
}

/** What the database cannot know, and the operator must look after. */
export function adviseOperator(): void {
  note('Keys and hosts are as they were at the time of the backup: revoke again what was revoked since')
  note('Partners read the whole feed once more and compare: see "After a restore" in the documentation')
}

export const afterRestore = command({
  meta: {
    name: 'after-restore',
    description: 'Make a database restored from a backup safe to serve: moves versions and ids ahead',
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
    if (seconds > furthestSeconds) throw new UsageError('Option --ahead must be at most 365d')
    const ids = parseCount(args.ids, 'ids', mostIds)
    const { mongodbUrl, dataDir } = readConfig(process.env, ['MONGODB_URL'])
    // A process that runs has ids and clocks in mind.
    if (!mongodbUrl) await requireUnserved(dataDir)
    await confirm(args, 'Versions and ids go ahead; no process of the service may be running.')
    const move = (act: Act) => moveAllAhead(act, { seconds, ids })
    const moved = await administer('db after-restore', `${args.ahead}, ${ids} ids`, move, {
      record: 'before',
    })
    print(args, toRecord(moved), record)
    adviseOperator()
  },
})

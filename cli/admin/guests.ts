import { closeSync } from 'node:fs'
import { type ArgsDef, type CommandContext, defineCommand } from 'citty'
import { findHost } from '../../src/access/hosts/store.ts'
import { isCalendarDate, toDay, toTimestamp } from '../../src/core/clock.ts'
import { DomainError } from '../../src/core/errors.ts'
import { release } from '../../src/operations/release.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { latestVersion, readSchemaState } from '../../src/platform/mongo/server/schema-version.ts'
import { findBookingsOfUser } from '../../src/stays/bookings/store.ts'
import { guestsWithStaysEndedBefore } from '../../src/stays/guests/ended-stays.ts'
import {
  eraseGuest,
  OpenStayError,
  type Receipt,
  receiptOf,
  requireNoOpenStay,
} from '../../src/stays/guests/erase.ts'
import { exportGuest } from '../../src/stays/guests/export.ts'
import type { StoredUser } from '../../src/stays/users/model.ts'
import { findUserIfAny, findUserOfAnyHost, findUsersByEmail } from '../../src/stays/users/store.ts'
import { command, flag, option, requiredOption } from '../shared/command.ts'
import { UsageError } from '../shared/errors.ts'
import { jsonText, note, print } from '../shared/output.ts'
import { printList } from '../shared/table.ts'
import { parseId } from '../shared/values.ts'
import {
  type Act,
  type Administration,
  administer,
  confirm,
  readEmail,
  withDatabase,
  withSoundClock,
} from './administer.ts'
import { addReceipt, openReceipts, readReceipts } from './receipts.ts'

const find = command({
  meta: { name: 'find', description: 'Find guests of all hosts by e-mail address' },
  examples: ['partnerctl guests find --email ada@example.com'],
  args: { email: requiredOption('E-mail address of the guest') },
  async run({ args }) {
    // A mistyped address must not look like an address that no guest has.
    const email = readEmail(args.email)
    await withDatabase(async ({ db }) => {
      await requireFinished(db)
      const rows = (await findUsersByEmail(db, email)).map((user) => ({
        user_id: user.id,
        host_id: user.owner_id,
        name: user.name,
        email: user.email,
        created_at: toTimestamp(user.created_at),
      }))
      printList(args, rows, {
        USER: 'user_id',
        HOST: 'host_id',
        NAME: 'name',
        EMAIL: 'email',
        CREATED: 'created_at',
      })
    })
  },
})

const exportCommand = command({
  meta: { name: 'export', description: 'Print all stored data about a guest as one JSON document' },
  examples: ['partnerctl guests export --user 1001 > guest.json'],
  args: { user: requiredOption('Id of the guest') },
  async run({ args }) {
    const id = parseId(args.user)
    const work = async ({ db, record }: Act) => {
      await requireFinished(db)
      const user = await findUserOfAnyHost(db, id)
      await record(null, user.owner_id)
      return exportGuest(db, user)
    }
    const exported = await administer('guests export', `user ${id}`, work, { record: 'caller' })
    print({ json: true }, exported, String)
  },
})

const eraseArgs = {
  user: option('Id of the guest'),
  'stays-ended-before': option(
    'All guests whose last stay ended before this day and who have no open stay',
    'date',
  ),
  'from-receipts': option(
    'All guests named in earlier receipts, to erase them again after a restore',
    'file',
  ),
  host: option('With --stays-ended-before: only guests of this host, by its id'),
  'dry-run': flag('With --stays-ended-before: only list them'),
  'with-open-stays': flag('With --user: erase the guest even if a stay is not over'),
  receipts: option('Add a line for each guest to this file, before anything is overwritten', 'file'),
  yes: flag('Do not ask for confirmation; required without a terminal'),
} satisfies ArgsDef

const erase = command({
  meta: { name: 'erase', description: 'Erase guests by overwriting their stored data' },
  examples: [
    'partnerctl guests erase --user 1001 --receipts receipts.ndjson',
    'partnerctl guests erase --stays-ended-before 2023-01-01 --dry-run',
    'partnerctl guests erase --from-receipts receipts.ndjson --yes',
  ],
  args: eraseArgs,
  async run({ args }) {
    const choices = [args.user, args['stays-ended-before'], args['from-receipts']]
    if (choices.filter((choice) => choice !== undefined).length !== 1)
      throw new UsageError('Give one of --user, --stays-ended-before or --from-receipts')
    const isByAge = args['stays-ended-before'] !== undefined
    if (!isByAge && (args.host !== undefined || args['dry-run']))
      throw new UsageError('Options --host and --dry-run require --stays-ended-before')
    if (args.user === undefined && args['with-open-stays'])
      throw new UsageError('Option --with-open-stays requires --user')
    await withSoundClock(async (administration) => {
      await requireFinished(administration.db)
      const erasures = await selectErasures(administration, args)
      if (args['dry-run']) return printList(args, erasures.map(toListed), listedColumns)
      if (!args.yes && !process.stdin.isTTY)
        throw new UsageError('Erasing cannot be undone: without a terminal, --yes is required')
      await confirm(args, `${erasures.length} guests will be erased.`)
      const isUnserved = args['from-receipts'] !== undefined
      const erasing = {
        file: args.receipts,
        skipsOpenStays: isByAge,
        mayHaveOpenStays: isUnserved || args['with-open-stays'] === true,
      }
      const receipts = await eraseAll({ ...administration, isUnserved }, erasures, erasing)
      print(args, receipts, () => receipts.map((receipt) => jsonText(receipt)).join('\n'))
    })
  },
})

type EraseValues = CommandContext<typeof eraseArgs>['args']

/** A guest to erase. */
interface Erasure {
  guest: StoredUser
  /** Time of the earlier erasure that is repeated; undefined for a new erasure. */
  at?: Date
}

/** Returns the guests to erase. */
async function selectErasures({ db, clock }: Administration, args: EraseValues): Promise<Erasure[]> {
  if (args['from-receipts'] !== undefined)
    return findErasuresOf(db, await readReceipts(args['from-receipts']))
  if (args.user !== undefined) {
    const user = await findUserOfAnyHost(db, parseId(args.user))
    if (!args['with-open-stays'])
      requireNoOpenStay(await findBookingsOfUser(db, user.owner_id, user.id), clock())
    return [{ guest: user }]
  }
  const before = args['stays-ended-before'] as string
  if (!isCalendarDate(before)) throw new UsageError(`"${before}" is not a valid date`)
  if (before > toDay(clock())) throw new UsageError(`"${before}" is later than today`)
  const hostId = args.host === undefined ? undefined : parseId(args.host)
  // Without this check, an unknown id would look like a host without old guests.
  if (hostId !== undefined) await findHost(db, hostId)
  return Array.fromAsync(guestsWithStaysEndedBefore(db, hostId, before, clock()), (guest) => ({ guest }))
}

interface EraseOptions {
  /** File to which receipts are appended. */
  file: string | undefined
  mayHaveOpenStays: boolean
  /** True to skip a guest who has booked since the guests were chosen; otherwise the command fails. */
  skipsOpenStays: boolean
}

/** Erases guests one by one. Syncs each guest's receipt to disk before overwriting any of the guest's data. */
async function eraseAll(
  context: Administration & { isUnserved: boolean },
  erasures: Erasure[],
  { file, mayHaveOpenStays, skipsOpenStays }: EraseOptions,
): Promise<Receipt[]> {
  const receipts: Receipt[] = []
  const descriptor = file === undefined ? null : openReceipts(file)
  try {
    for (const { guest, at } of erasures) {
      const onBegun = (begunAt: Date) => {
        const receipt = receiptOf(guest, begunAt)
        if (descriptor !== null) addReceipt(descriptor, receipt)
        receipts.push(receipt)
      }
      try {
        await eraseGuest({ ...context, mayHaveOpenStays, at, onBegun }, guest)
      } catch (error) {
        if (!skipsOpenStays || !(error instanceof OpenStayError)) throw error
        note(`Guest ${guest.id} was left out: ${error.message}`)
      }
    }
  } finally {
    if (descriptor !== null) closeSync(descriptor)
  }
  return receipts
}

/**
 * Returns the erasures that receipts record; guests that no longer exist count as erased.
 *
 * @throws Error if a receipt's id belongs to a different guest
 */
async function findErasuresOf(db: Db, receipts: Receipt[]): Promise<Erasure[]> {
  const erasures: Erasure[] = []
  for (const { user_id, host_id, user_created_at, at } of receipts) {
    const user =
      (await findUserIfAny(db, host_id, user_id)) ??
      (await findUserOfAnyHost(db, user_id).catch(nullIfMissing))
    if (!user) continue
    if (user.owner_id !== host_id || user.created_at.getTime() !== Date.parse(user_created_at))
      throw new Error(`User ${user_id} is not the user in the receipt: nothing was erased`)
    erasures.push({ guest: user, at: new Date(at) })
  }
  return erasures
}

function nullIfMissing(error: unknown): null {
  if (error instanceof DomainError && error.kind === 'not_found') return null
  throw error
}

/** @throws Error while processes of an earlier release, which cannot handle erased guests, may still be serving */
async function requireFinished(db: Db): Promise<void> {
  const { version, oldest } = await readSchemaState(db, release)
  if (oldest < Math.max(version, latestVersion(release.migrations)))
    throw new Error(
      'Processes of an earlier release, which cannot handle erased guests, may still be running: run "partnerctl db migrate --finish" first',
    )
}

const toListed = ({ guest }: Erasure) => ({
  user_id: guest.id,
  host_id: guest.owner_id,
  name: guest.name,
  created_at: toTimestamp(guest.created_at),
})

const listedColumns = { USER: 'user_id', HOST: 'host_id', NAME: 'name', CREATED: 'created_at' } as const

export const guests = defineCommand({ subCommands: { find, export: exportCommand, erase } })

import { type CommandContext, defineCommand } from 'citty'
import type { Schemas } from '../../../client/src/index.ts'
import {
  type CalendarAdministration,
  type CalendarOfHost,
  type CalendarSearch,
  calendarStatuses,
} from '../../shared/calendars.ts'
import { command, type commonArgs, flag, option, positional } from '../../shared/command.ts'
import { ChecksFailedError, UsageError } from '../../shared/errors.ts'
import { note, print, record } from '../../shared/output.ts'
import { type Columns, printList, table } from '../../shared/table.ts'
import { decodeAscii } from '../../shared/utf8.ts'
import { limitArgument, oneOf, parseId, parseLimit, printUpTo, readText } from '../../shared/values.ts'
import { clientArgs, openClient } from '../client.ts'

type Calendar = Schemas['Calendar']
type CalendarEntry = Schemas['CalendarEntry']
type SkippedEvent = Schemas['SkippedEvent']

/** Largest page of the route. */
const maxPerPage = 500

const partnerArgs = {
  listing: option('Only the rooms of this listing', 'id'),
  status: option(`Only these statuses: ${calendarStatuses.join(', ')}`, 'statuses'),
  ...clientArgs,
} as const

const listArgs = {
  ...partnerArgs,
  host: option('Calendars of this host, by id or e-mail address (administrator: reads the database)', 'host'),
  ...limitArgument('calendars', 100),
} as const

type ListValues = CommandContext<typeof listArgs & typeof commonArgs>['args']

/** The columns that calendars have for partners and for administrators; only JSON has the other fields. */
const sharedColumns: Columns<Omit<CalendarEntry, 'url'>> = {
  STATUS: 'status',
  ERROR: describeError,
  NIGHTS: 'nights',
  CONFLICTS: ({ conflicts }) => conflicts.length,
  READ: 'read_at',
  'NEXT READING': 'next_read_at',
  'HELD UNTIL': 'held_until',
}

const partnerColumns: Columns<CalendarEntry> = {
  LISTING: 'listing_id',
  ROOM: 'room_id',
  ADDRESS: ({ url }) => originOf(url),
  ...sharedColumns,
}

const administratorColumns: Columns<CalendarOfHost> = {
  HOST: 'host_id',
  LISTING: 'listing_id',
  ROOM: 'room_id',
  ADDRESS: 'origin',
  ...sharedColumns,
}

function searchOf({ listing, status }: Pick<ListValues, 'listing' | 'status'>): CalendarSearch {
  return {
    listingId: listing === undefined ? undefined : parseId(listing),
    statuses: status?.split(',').map((one) => oneOf(calendarStatuses, one.trim())),
  }
}

const moreHint = { hint: () => 'raise --limit, or use --listing or --status' }

async function listOwn(args: ListValues, { listingId, statuses }: CalendarSearch, limit: number) {
  const { calendars } = await openClient(args)
  const query = { listing_id: listingId, status: statuses, per_page: Math.min(limit + 1, maxPerPage) }
  const found: CalendarEntry[] = []
  for await (const calendar of calendars.list(query)) {
    found.push(calendar)
    if (found.length > limit) break
  }
  printUpTo(found, limit, { show: (shown) => printList(args, shown, partnerColumns), ...moreHint })
}

const room = positional('Id of the room')

const show = command({
  meta: {
    name: 'show',
    description: 'Show the calendar of a room: its status, its blocks, what was skipped',
  },
  examples: ['partnerctl calendars show 4001', 'partnerctl calendars show 4001 --sandbox --json'],
  args: { room, ...clientArgs },
  async run({ args }) {
    const id = parseId(args.room)
    const { calendars } = await openClient(args)
    print(args, await calendars.get(id), describeCalendar)
  },
})

const read = command({
  meta: { name: 'read', description: 'Read the calendar of a room now; exits with 1 if the reading failed' },
  examples: ['partnerctl calendars read 4001', 'partnerctl calendars read 4001 --accept'],
  args: {
    room,
    accept: flag('Take the file as it is, even if it frees many nights'),
    ...clientArgs,
  },
  async run({ args }) {
    const id = parseId(args.room)
    const client = await openClient(args)
    const calendar = await client.calendars.read(id, args.accept ? { accept: true } : {})
    print(args, calendar, describeCalendar)
    if (calendar.error !== null)
      throw new ChecksFailedError(`The calendar could not be read: ${describeError(calendar)}`)
    if (calendar.status === 'holding') note(describeHold(calendar, client.isSandbox))
  },
})

function describeHold({ room_id, held_until }: Calendar, isSandbox: boolean): string {
  const read = `partnerctl calendars read ${room_id}${isSandbox ? ' --sandbox' : ''} --accept`
  return `The file lacks so many nights that none is freed before ${held_until}; if the file is right, run: ${read}`
}

const check = command({
  meta: { name: 'check', description: 'Show what a calendar file would block; nothing is stored' },
  examples: [
    'partnerctl calendars check calendar.ics --sandbox',
    'curl -s "$CALENDAR_URL" | partnerctl calendars check - --room 4001',
  ],
  args: {
    file: positional('An iCalendar file, or - for standard input'),
    room: option('Room whose listing gives the time zone for times in UTC (default: UTC)', 'id'),
    ...clientArgs,
  },
  async run({ args }) {
    const roomId = args.room === undefined ? undefined : parseId(args.room)
    const text = await readText(args.file, decodeAscii)
    // An empty pipe usually means that the download before it failed.
    if (text.trim() === '') throw new UsageError(`${nameOf(args.file)} is empty`)
    const { calendars } = await openClient(args)
    print(
      args,
      await calendars.check(roomId === undefined ? text : { text, room_id: roomId }),
      describeChecked,
    )
  },
})

function nameOf(file: string): string {
  return file === '-' ? 'Standard input' : `"${file}"`
}

/** Defines the commands; without `administration`, only what partners can do. */
export function calendarsWith(administration: CalendarAdministration | undefined) {
  const { host: _, ...ownArgs } = listArgs
  const examples = ['partnerctl calendars list', 'partnerctl calendars list --status failing,holding']
  const list = command({
    meta: { name: 'list', description: 'List the calendars of rooms, with their status and blocked nights' },
    examples: administration ? [...examples, 'partnerctl calendars list --host host@example.com'] : examples,
    args: (administration ? listArgs : ownArgs) as typeof listArgs,
    async run({ args }) {
      const limit = parseLimit(args.limit)
      const search = searchOf(args)
      if (!administration || args.host === undefined) return listOwn(args, search, limit)
      const clientOptions = ['base-url', 'key-file', 'profile', 'sandbox'] as const
      const other = clientOptions.find((name) => args[name] !== undefined)
      if (other) throw new UsageError(`Option --${other} cannot be used with --host`)
      const listOfHost = await administration.listOfHost()
      const found = await listOfHost(args.host, search, limit + 1)
      printUpTo(found, limit, { show: (rows) => printList(args, rows, administratorColumns), ...moreHint })
    },
  })
  return defineCommand({ subCommands: { list, show, read, check } })
}

/** Returns the origin of an address: the rest is a secret in many cases (decisions §31). */
function originOf(url: string): string | null {
  if (!URL.canParse(url)) return null
  // `origin` is "null" for `webcal:`.
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

/** Returns why the last attempt failed, in the word of the interface; null if it did not. */
function describeError({ error, response_status }: Pick<CalendarEntry, 'error' | 'response_status'>) {
  return error === 'status' ? `status ${response_status}` : error
}

function describeCalendar({ url, blocks, skipped, events, conflicts, ...entry }: Calendar): string {
  const fields = record({
    listing_id: entry.listing_id,
    room_type_id: entry.room_type_id,
    room_id: entry.room_id,
    address: originOf(url),
    status: entry.status,
    error: entry.error,
    response_status: entry.response_status,
    read_at: entry.read_at,
    changed_at: entry.changed_at,
    attempted_at: entry.attempted_at,
    next_read_at: entry.next_read_at,
    held_until: entry.held_until,
    events: events && describeEvents(events),
    nights: entry.nights,
    conflicts: conflicts.join(', ') || null,
  })
  const ranges = table(blocks, {
    'FIRST NIGHT': 'start_date',
    END: 'end_date',
    SEEN: 'seen_at',
    BOOKING: 'booking_id',
  })
  return inParts([fields, blocks.length > 0 && ranges, describeSkipped(skipped)])
}

function describeChecked({ blocks, skipped, events }: Schemas['CheckedCalendar']): string {
  const ranges = table(blocks, { 'FIRST NIGHT': 'start_date', END: 'end_date' })
  return inParts([
    blocks.length === 0 ? 'The file would block nothing' : ranges,
    describeSkipped(skipped),
    `Events: ${describeEvents(events)}`,
  ])
}

function describeEvents({ read: all, blocking, skipped }: NonNullable<CalendarEntry['events']>): string {
  return `${all} read, ${blocking} blocking, ${skipped} skipped`
}

function describeSkipped(skipped: SkippedEvent[]): string | false {
  return skipped.length > 0 && table(skipped, { 'SKIPPED AT LINE': 'line', REASON: 'reason' })
}

/** Joins the parts of a text that are not left out. */
function inParts(parts: (string | false)[]): string {
  return parts.filter((part) => part !== false).join('\n\n')
}

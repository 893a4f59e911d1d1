import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'
import type { CalendarError, CalendarStatus, SkipReason } from './words.ts'

const blockFields = {
  /** First night, `YYYY-MM-DD`. */
  start_date: field.text,
  /** Day after the last night. */
  end_date: field.text,
  /** Time of the reading that showed the block first. */
  seen_at: field.moment,
  /** True if the last good reading no longer had the block, but a night of it is still blocked. */
  is_gone: field.flag,
}
/** A range of nights that a room's calendar takes. */
export type CalendarBlock = Stored<typeof blockFields>

const nightFields = {
  /** First and last night, each `YYYY-MM-DD`. */
  from: field.text,
  to: field.text,
  /** Position among the host's changes at which the nights became blocked. */
  sequence: field.number,
  /** Time at which they became blocked, later than every booking version that existed then. */
  at: field.moment,
}
/** Blocked nights of a room that became blocked together. */
export type BlockedNights = Stored<typeof nightFields>

const missingFields = {
  from: field.text,
  to: field.text,
  /** Time of the first good reading, of those in a row, that lacked the nights. */
  since: field.moment,
  /** Number of those readings. */
  readings: field.number,
}
/** Nights that are blocked, but that the last good reading lacked. */
export type MissingNights = Stored<typeof missingFields>

const fields = {
  owner_id: field.number,
  listing_id: field.number,
  room_type_id: field.number,
  room_id: field.number,
  /** The address as it was sent. It is a secret in many cases, so nothing logs it. */
  url: field.text,
  /** Origin of the address as it is read. Readings at one origin take turns. */
  origin: field.text,
  /** True while the listing is inactive. */
  is_inactive: field.flag,
  /** True if the host had too many calendars when the address was set. */
  is_limited: field.flag,
  /** Time at which the address was set. */
  set_at: field.moment,
  status: field.literal<CalendarStatus>(),
  error: field.literalOrNull<CalendarError>(),
  /** HTTP status of the last attempt's response; null without a response. */
  response_status: field.numberOrNull,
  /** Last good reading of this address. */
  read_at: field.momentOrNull,
  /** Last reading that changed a night. */
  changed_at: field.momentOrNull,
  attempted_at: field.momentOrNull,
  next_read_at: field.momentOrNull,
  /** Number of attempts that have failed since the last good reading. */
  failures: field.number,
  /** First of the readings that would each have freed too much; null if the calendar is not held. */
  hold_since: field.momentOrNull,
  /** Names the reading in progress. A reading writes only if the claim is still its own. */
  claim: field.textOrNull,
  /** Time from which a process may claim the calendar: when it is due, or when the present claim ends; null if never. */
  claimable_at: field.momentOrNull,
  etag: field.textOrNull,
  last_modified: field.textOrNull,
  /** Last good reading of the whole file, so of one that was asked for unconditionally or had changed. */
  full_read_at: field.momentOrNull,
  /** Interval that the file asks for, in seconds, within our bounds; null if it asks for none. */
  refresh_seconds: field.numberOrNull,
  /** True if the room's calendar has been read, at any address so far. */
  has_been_read: field.flag,
  /** Numbers of events in the last good reading; null if there was none. */
  events: field.objectOrNull({ read: field.number, blocking: field.number, skipped: field.number }),
  /** The first events that the last good reading skipped. */
  skipped: field.listOf({ line: field.number, reason: field.literal<SkipReason>() }),
  /** Nights on which the room type had more bookings and blocks than rooms at the last good reading. */
  conflicts: field.list<string>(String),
  blocks: field.listOf(blockFields),
  /** All nights of the blocks within the window of nights that count, in order. */
  nights: field.listOf(nightFields),
  missing: field.listOf(missingFields),
}

/**
 * The calendar of a room, that is, what is known of the file at the room's `availability.ical` (decisions §31). No text
 * of a file is stored.
 */
export type StoredCalendar = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, room_id: 1 }, { unique: true, name: 'calendar_room' })
schema.index({ owner_id: 1, listing_id: 1, room_type_id: 1, room_id: 1 }, { name: 'calendar_order' })
schema.index({ owner_id: 1, room_type_id: 1 }, { name: 'calendar_room_type' })
schema.index({ claimable_at: 1, origin: 1, owner_id: 1 }, { name: 'calendar_due' })
schema.index({ owner_id: 1, has_been_read: 1, room_type_id: 1 }, { name: 'calendar_read' })
schema.index({ status: 1, read_at: 1 }, { name: 'calendar_status' })

export const calendarModel = modelOf<StoredCalendar>('calendars', schema, { owner: 'owner_id' })

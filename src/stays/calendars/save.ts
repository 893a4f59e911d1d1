import { isDeepStrictEqual } from 'node:util'
import { addDays, toDay } from '../../core/clock.ts'
import { hostQueue, nextMoment } from '../../host-clock/store.ts'
import type { AppContext } from '../../http/context.ts'
import { type Decision, daysAhead, decide, nightsAfter } from '../../inventory/calendars/decide.ts'
import { boundedRefresh, dueAfterFailure, dueAfterSuccess } from '../../inventory/calendars/due.ts'
import type { StoredCalendar } from '../../inventory/calendars/model.ts'
import {
  type Claimed,
  type ClaimedCalendar,
  findClaimed,
  saveReading,
} from '../../inventory/calendars/store.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import { findActiveStays } from '../bookings/store.ts'
import { findRoomCalendars } from '../capacity/calendars.ts'
import { nightsToCompare, overbookedNights, type RoomCalendar } from '../capacity/units.ts'
import type { Attempt, FailedAttempt, GoodAttempt } from './fetch.ts'

/*
 * Stores what an attempt has come to (decisions §31). A good reading is one transaction:
 *
 *   find the calendar by its claim    if it is another's by now, or the address has changed, nothing is stored
 *   decide                            see inventory/calendars/decide.ts
 *   advance the host's clock          if a block changes, so that a booking and a reading always see each other
 *   read the room type's bookings     for the conflicts
 *   store, and end the claim
 *
 * Without the clock, a booking and a reading could both take the last unit, and neither would say so.
 */

type SavingContext = Pick<AppContext, 'db' | 'clock' | 'environment'>

/** How an attempt is judged. */
export interface Judging {
  /** Number of rooms of the room type. */
  rooms: number
  /** True to take the file as it is. */
  accepts: boolean
}

const maxSkipped = 20
const maxConflicts = 20

/**
 * Maximum number of blocks of a room type's calendars. Everything that counts its nights reads them all: without the bound,
 * the calendars of one room type could take a process's memory, and all of its time for seconds.
 */
const maxBlocksOfRoomType = 20_000

/**
 * Stores an attempt, and returns it as it was judged: a good reading fails if it takes too many blocks. Returns null if
 * the calendar's claim was not the attempt's own any more.
 */
export function saveAttempt(
  app: SavingContext,
  claimed: ClaimedCalendar,
  attempt: Attempt,
  judging: Judging,
): Promise<Attempt | null> {
  if (attempt.kind === 'failed') return saveFailure(app, null, { claimed, attempt })
  return inTransaction(app.db, hostQueue(claimed.owner_id), (session) =>
    saveGood(app, session, { claimed, attempt, judging }),
  )
}

interface FailureToSave {
  claimed: Claimed & Pick<StoredCalendar, 'failures'>
  attempt: FailedAttempt
}

async function saveFailure(
  { db, clock }: SavingContext,
  session: Session | null,
  { claimed, attempt }: FailureToSave,
): Promise<Attempt | null> {
  const { error, responseStatus, retryAfterSeconds } = attempt
  const now = clock(claimed.owner_id)
  const failures = claimed.failures + 1
  const isSaved = await saveReading(db, session, claimed, {
    status: 'failing',
    error,
    response_status: responseStatus,
    attempted_at: now,
    failures,
    is_noted: true,
    next_read_at: dueAfterFailure(now, { failures, retryAfterSeconds }, Math.random()),
  })
  return isSaved ? attempt : null
}

interface GoodReadingToSave {
  claimed: Claimed
  attempt: GoodAttempt
  judging: Judging
}

async function saveGood(
  app: SavingContext,
  session: Session,
  { claimed, attempt, judging }: GoodReadingToSave,
): Promise<Attempt | null> {
  const { db, clock } = app
  const known = await findClaimed(db, session, claimed)
  if (!known) return null
  const { owner_id } = known
  const at = clock(owner_id)
  const today = toDay(at)
  const { file } = attempt
  const decision = decide(known, { blocks: file?.blocks ?? null, at, today, accepts: judging.accepts })
  const others = await otherCalendars(db, session, known)
  if (decision.blocks.length > known.blocks.length && isTooMany([...others, decision])) {
    const failed = tooLarge(attempt)
    return saveFailure(app, session, { claimed: { ...known, claim: claimed.claim }, attempt: failed })
  }
  const changesNight = decision.added.length > 0 || decision.freed.length > 0
  const isFirst = !known.has_been_read
  const nights =
    changesNight || isFirst || !isDeepStrictEqual(rangesOf(known), rangesOf(decision))
      ? nightsAfter(decision, await nextMoment(db, session, owner_id, { now: at, isFirst }))
      : decision.kept
  const read = { ...known, has_been_read: true, blocks: decision.blocks, nights }
  const conflicts = await conflictsOf(app, session, read, { others, rooms: judging.rooms, today })
  const events = file ? file.events : known.events
  const refresh_seconds = file ? boundedRefresh(file.refreshSeconds) : known.refresh_seconds
  const isSaved = await saveReading(db, session, claimed, {
    ...stateAfter(decision),
    error: null,
    response_status: attempt.responseStatus,
    read_at: at,
    attempted_at: at,
    ...(changesNight ? { changed_at: at } : {}),
    next_read_at: dueAfterSuccess(at, { refresh_seconds }, Math.random()),
    failures: 0,
    etag: attempt.etag,
    last_modified: attempt.lastModified,
    refresh_seconds,
    has_been_read: true,
    ...(file ? { full_read_at: at, events, skipped: file.skipped.slice(0, maxSkipped) } : {}),
    conflicts,
    is_noted: conflicts.length > 0 || (events?.skipped ?? 0) > 0,
    nights,
  })
  return isSaved ? attempt : null
}

/** Returns what determines which blocks are bookings, and with them the units that are left. */
function rangesOf({ blocks }: Pick<StoredCalendar, 'blocks'>): string[] {
  return blocks.map(({ start_date, end_date }) => `${start_date}/${end_date}`)
}

/** Returns the calendars of the other rooms of a room's type. */
async function otherCalendars(
  db: Db,
  session: Session,
  { owner_id, room_type_id, room_id }: StoredCalendar,
): Promise<RoomCalendar[]> {
  const found = await findRoomCalendars(db, session, owner_id, [room_type_id])
  return (found.get(room_type_id) ?? []).filter((other) => other.room_id !== room_id)
}

function isTooMany(calendars: { blocks: unknown[] }[]): boolean {
  return calendars.reduce((sum, { blocks }) => sum + blocks.length, 0) > maxBlocksOfRoomType
}

function tooLarge({ responseStatus }: GoodAttempt): FailedAttempt {
  return {
    kind: 'failed',
    error: 'too_large',
    responseStatus,
    retryAfterSeconds: null,
  }
}

function stateAfter({ status, hold_since, blocks, missing }: Decision) {
  return { status, hold_since, blocks, missing }
}

/** Returns the first nights on which the room type has more bookings and blocks than rooms. */
async function conflictsOf(
  { db }: SavingContext,
  session: Session,
  read: StoredCalendar,
  { others, rooms, today }: { others: RoomCalendar[]; rooms: number; today: string },
): Promise<string[]> {
  const { owner_id, room_type_id, room_id } = read
  const own = {
    room_id,
    hasBeenRead: true,
    blocks: read.blocks,
    blockedNights: read.nights,
  }
  const calendars = [...others, own]
  if (calendars.every(({ blocks }) => blocks.length === 0)) return []
  const nights = { from: today, to: addDays(today, daysAhead) }
  const compared = { roomTypeIds: [room_type_id], days: nightsToCompare(nights, calendars) }
  const stays = await findActiveStays(db, session, owner_id, [compared])
  return overbookedNights(nights, { stays, calendars, rooms, today }).slice(0, maxConflicts)
}

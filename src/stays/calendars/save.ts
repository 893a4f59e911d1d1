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
import type { Session } from '../../platform/mongo/connection.ts'
import { inTransaction } from '../../platform/mongo/turns/transactions.ts'
import { findActiveStays } from '../bookings/store.ts'
import { findRoomCalendars } from '../capacity/calendars.ts'
import { nightsToCompare, overbookedNights } from '../capacity/units.ts'
import type { Attempt, FailedAttempt, GoodAttempt } from './fetch.ts'

/*
 * Stores what an attempt has come to (decisions §31). A good reading is one transaction:
 *
 *   find the calendar by its claim    if it is another's by now, or the address has changed, nothing is stored
 *   decide                            see inventory/calendars/decide.ts
 *   advance the host's clock          if a night changes, so that a booking and a reading always see each other
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

/** Stores an attempt. Returns false if the calendar's claim was not the attempt's own any more. */
export function saveAttempt(
  app: SavingContext,
  claimed: ClaimedCalendar,
  attempt: Attempt,
  judging: Judging,
): Promise<boolean> {
  if (attempt.kind === 'failed') return saveFailure(app, claimed, attempt)
  return inTransaction(app.db, hostQueue(claimed.owner_id), (session) =>
    saveGood(app, session, { claimed, attempt, judging }),
  )
}

async function saveFailure(
  { db, clock }: SavingContext,
  claimed: ClaimedCalendar,
  { error, responseStatus, retryAfterSeconds }: FailedAttempt,
): Promise<boolean> {
  const now = clock(claimed.owner_id)
  const failures = claimed.failures + 1
  return saveReading(db, null, claimed, {
    status: 'failing',
    error,
    response_status: responseStatus,
    attempted_at: now,
    failures,
    is_noted: true,
    next_read_at: dueAfterFailure(now, { failures, retryAfterSeconds }, Math.random()),
  })
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
): Promise<boolean> {
  const { db, clock } = app
  const known = await findClaimed(db, session, claimed)
  if (!known) return false
  const { owner_id } = known
  const at = clock(owner_id)
  const today = toDay(at)
  const { file } = attempt
  const decision = decide(known, { blocks: file?.blocks ?? null, at, today, accepts: judging.accepts })
  const changesNight = decision.added.length > 0 || decision.freed.length > 0
  const isFirst = !known.has_been_read
  const nights =
    changesNight || isFirst
      ? nightsAfter(decision, await nextMoment(db, session, owner_id, { now: at, isFirst }))
      : decision.kept
  const read = { ...known, has_been_read: true, blocks: decision.blocks, nights }
  const conflicts = await conflictsOf(app, session, read, { rooms: judging.rooms, today })
  const events = file ? file.events : known.events
  const refresh_seconds = file ? boundedRefresh(file.refreshSeconds) : known.refresh_seconds
  return saveReading(db, session, claimed, {
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
}

function stateAfter({ status, hold_since, blocks, missing }: Decision) {
  return { status, hold_since, blocks, missing }
}

/** Returns the first nights on which the room type has more bookings and blocks than rooms. */
async function conflictsOf(
  { db }: SavingContext,
  session: Session,
  read: StoredCalendar,
  { rooms, today }: { rooms: number; today: string },
): Promise<string[]> {
  const { owner_id, room_type_id, room_id } = read
  const stored = (await findRoomCalendars(db, session, owner_id, [room_type_id])).get(room_type_id) ?? []
  const calendars = [
    ...stored.filter((other) => other.room_id !== room_id),
    { room_id, hasBeenRead: true, blocks: read.blocks, blockedNights: read.nights },
  ]
  if (calendars.every(({ blocks }) => blocks.length === 0)) return []
  const nights = { from: today, to: addDays(today, daysAhead) }
  const compared = { roomTypeIds: [room_type_id], days: nightsToCompare(nights, calendars) }
  const stays = await findActiveStays(db, session, owner_id, { nights: [compared], exceptUpTo: null })
  return overbookedNights(nights, { stays, calendars, rooms, today }).slice(0, maxConflicts)
}

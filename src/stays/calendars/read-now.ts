import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import type { StoredCalendar } from '../../inventory/calendars/model.ts'
import { claimCalendar, findCalendar } from '../../inventory/calendars/store.ts'
import { inPlace } from './places.ts'
import { type ReadingContext, readClaimed } from './read-one.ts'
import { readingTurns, requireReadingTurn, type TurnsContext } from './turns.ts'

/** Least time between two attempts, unless the address is new or the host accepts the file. */
const pauseMilliseconds = 60_000
/** A reading in progress ends within this time, in seconds, unless its process was killed. */
const inProgressSeconds = 20

/** Which calendar a host asks to be read. */
export interface WantedReading {
  ownerId: number
  roomId: number | undefined
  /** True to take the file as it is. */
  accepts: boolean
}

/**
 * Reads a calendar because a host asks for it (decisions §31). The entry shows the outcome, whatever it is. A calendar
 * beyond the host's limit is not read, which its entry shows too.
 *
 * @throws DomainError `not_found`; `conflict` if the listing is inactive, or with a retry time if it is too early or the
 * calendar is being read
 */
export async function readNow(
  app: ReadingContext & TurnsContext & Pick<AppContext, 'clock' | 'readingPlaces'>,
  { ownerId, roomId, accepts }: WantedReading,
): Promise<void> {
  const calendar = await findCalendar(app.db, ownerId, roomId)
  if (calendar.is_inactive)
    throw new DomainError('conflict', 'The listing is inactive, so its calendars are not read')
  if (calendar.is_limited) return
  requireTime(calendar, app.clock(ownerId), accepts)
  await inPlace(app.readingPlaces, calendar, () => readInTurn(app, calendar, accepts))
}

async function readInTurn(
  app: ReadingContext & TurnsContext & Pick<AppContext, 'clock'>,
  calendar: StoredCalendar,
  accepts: boolean,
): Promise<void> {
  const turns = readingTurns(app)
  const turn = await requireReadingTurn(turns, calendar.origin)
  const now = app.clock(calendar.owner_id)
  const claimed = isClaimed(calendar, now) ? null : await claimCalendar(app.db, calendar, now)
  if (!claimed) {
    turn.giveBack()
    throw beingRead()
  }
  await readClaimed(app, claimed, { turns, turn, accepts })
}

function requireTime(calendar: StoredCalendar, now: Date, accepts: boolean): void {
  if (isClaimed(calendar, now)) throw beingRead()
  if (accepts || calendar.attempted_at === null) return
  const wait = calendar.attempted_at.getTime() + pauseMilliseconds - now.getTime()
  if (wait <= 0) return
  const seconds = Math.ceil(wait / 1000)
  throw new DomainError(
    'conflict',
    `The calendar was read less than 60 s ago; try again in ${seconds} s`,
    [],
    seconds,
  )
}

function isClaimed({ claim, claimable_at }: StoredCalendar, now: Date): boolean {
  return claim !== null && claimable_at !== null && claimable_at > now
}

function beingRead(): DomainError {
  return new DomainError('conflict', 'The calendar is being read; try again', [], inProgressSeconds)
}

import type { AppContext } from '../../http/context.ts'
import type { ClaimedCalendar } from '../../inventory/calendars/store.ts'
import { findCalendarPlace } from '../../inventory/listings/calendar-rooms-store.ts'
import type { OriginTurns, Turn } from '../../platform/outgoing/turns.ts'
import { type Attempt, attemptReading } from './fetch.ts'
import { saveAttempt } from './save.ts'
import { NoTurnError, turnsOfReading } from './turns.ts'

export type ReadingContext = Pick<AppContext, 'db' | 'clock' | 'config' | 'environment' | 'metrics'>

/** How a claimed calendar is read. */
export interface OneReading {
  turns: OriginTurns
  /** A turn at the address's origin, which the reading uses or gives back. */
  turn: Turn
  /** True to take the file as it is. */
  accepts: boolean
}

/** Reads a claimed calendar once: fetches its file, and stores what has come of it. */
export async function readClaimed(
  app: ReadingContext,
  claimed: ClaimedCalendar,
  { turns, turn, accepts }: OneReading,
): Promise<void> {
  try {
    const { country, rooms } = await findCalendarPlace(app.db, claimed)
    const attempt = await attemptReading(app, claimed, {
      country,
      takeTurn: turnsOfReading(turns, turn),
    }).catch(whenWithoutTurn)
    const saved = await saveAttempt(app, claimed, attempt, { rooms, accepts })
    if (saved) app.metrics.countCalendarReading(outcomeOf(saved))
  } finally {
    turn.giveBack()
  }
}

/** A redirect whose origin is too busy counts as too slow. */
function whenWithoutTurn(error: unknown): Attempt {
  if (!(error instanceof NoTurnError)) throw error
  return { kind: 'failed', error: 'timeout', responseStatus: null, retryAfterSeconds: null }
}

function outcomeOf(attempt: Attempt): string {
  if (attempt.kind === 'failed') return attempt.error
  return attempt.file === null ? 'unchanged' : 'read'
}

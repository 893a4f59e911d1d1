import { DomainError } from '../../core/errors.ts'
import type { AppContext } from '../../http/context.ts'
import { maxWaitMilliseconds, sandboxTurns } from '../../http/sandbox-turns.ts'
import { LeasedSlots } from '../../platform/mongo/turns/slots.ts'
import { freshTurn, OriginTurns, type Turn, unlimited } from '../../platform/outgoing/turns.ts'
import { fetchMilliseconds } from './fetch.ts'

export type TurnsContext = Pick<AppContext, 'rateLimiter' | 'liveDb' | 'clockWatch' | 'environment'>

/** Maximum number of live readings at a time and in any second at one origin, over all processes (decisions §31). */
const maxPerOrigin = 4

/** Time that a reading waits for a turn at the origin to which it is redirected. */
const redirectMilliseconds = 15_000

/**
 * Returns the turns of the readings at an origin. On live data they are shared through the database, so that the promise
 * to others' servers holds without Redis too; sandboxes share theirs with the hints that they send (decisions §21).
 */
export function readingTurns(app: TurnsContext): OriginTurns {
  if (app.environment.name === 'sandbox') return sandboxTurns(app, fetchMilliseconds)
  const slots = new LeasedSlots({ db: app.liveDb, clockWatch: app.clockWatch })
  return new OriginTurns(slots, {
    name: 'calendars',
    limit: maxPerOrigin,
    requestMilliseconds: fetchMilliseconds,
    answerMilliseconds: null,
  })
}

/** Error thrown if a redirect leads to an origin at which there is no turn for too long. */
export class NoTurnError extends Error {}

/** Returns what a reading takes its turns from: the one that it has, and then one for each redirect. */
export function turnsOfReading(turns: OriginTurns, first: Turn): (origin: string) => Promise<Turn> {
  let own: Turn | null = first
  const another = async (origin: string) => {
    const turn = await turns.wait(origin, redirectMilliseconds)
    if (turn === null) throw new NoTurnError('No turn at the origin')
    return turn
  }
  return (origin) => {
    if (own === null) return another(origin)
    const taken = own
    own = null
    return freshTurn(taken, () => another(origin))
  }
}

/**
 * Waits for the turn of a reading that a request asks for.
 *
 * @throws DomainError `conflict` with a retry time after five seconds
 */
export async function requireReadingTurn(turns: OriginTurns, origin: string): Promise<Turn> {
  // An address that cannot be read has no origin. Its reading fails at once, without a request.
  if (origin === '') return unlimited
  const turn = await turns.wait(origin, maxWaitMilliseconds)
  if (turn) return turn
  throw new DomainError(
    'conflict',
    'Too many calendars are being read from the same server; try again',
    [],
    1,
  )
}

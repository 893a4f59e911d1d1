import { DomainError } from '../../core/errors.ts'
import type { AppContext, Environment } from '../../http/context.ts'
import type { Webhook } from './model.ts'

/**
 * Maximum number of attempts per second from all sandboxes combined to one origin (decisions §21). Without this limit,
 * a partner could use the sandbox's scenarios and clock to flood someone else's server.
 */
const maxPerSecond = 10
/** Maximum number of attempts per second to one endpoint, so that a backlog does not flood it (decisions §21). */
export const maxPerSecondOfEndpoint = 20
const windowMilliseconds = 1000
/** Maximum time that an attempt waits for the rate limit. */
const maxWaitMilliseconds = 5000

export type OriginContext = Pick<AppContext, 'rateLimiter'> & { environment: Pick<Environment, 'name'> }

const windowOf = (url: string) => `hints:${new URL(url).origin}`

/** The number of attempts that may start now, and the time until the next attempt may start. */
export interface TurnReservation {
  count: number
  waitMilliseconds: number
}

/** Counts up to `wanted` attempts against the rate limit of a URL's origin. Live attempts are not limited here. */
export async function reserveTurns(
  { rateLimiter, environment }: OriginContext,
  url: string,
  wanted: number,
): Promise<TurnReservation> {
  if (environment.name === 'live') return { count: wanted, waitMilliseconds: 0 }
  for (let count = 0; count < wanted; count += 1) {
    const { allowed, waitMilliseconds } = await rateLimiter.hit(
      windowOf(url),
      maxPerSecond,
      windowMilliseconds,
    )
    if (!allowed) return { count, waitMilliseconds }
  }
  return { count: wanted, waitMilliseconds: 0 }
}

/** Waits until the rate limit allows one attempt. Returns false if this would take more than five seconds. */
export function awaitTurn(app: OriginContext, url: string): Promise<boolean> {
  return retryUntilReserved(() => reserveTurns(app, url, 1))
}

async function retryUntilReserved(take: () => Promise<TurnReservation>): Promise<boolean> {
  const deadline = performance.now() + maxWaitMilliseconds
  for (;;) {
    const { count, waitMilliseconds } = await take()
    if (count === 1) return true
    if (performance.now() + waitMilliseconds > deadline) return false
    await Bun.sleep(waitMilliseconds)
  }
}

/**
 * Waits until an attempt that an API request triggered may start. In a sandbox, the origin's limit applies. On live
 * data, the endpoint's tests and resends have their own limit. The process that sends the endpoint's hints limits all
 * other live attempts.
 *
 * @throws DomainError `conflict` with a retry time if the attempt would have to wait for more than five seconds
 */
export async function requireTurn(
  app: OriginContext,
  { id, url }: Pick<Webhook, 'id' | 'url'>,
): Promise<void> {
  const isLive = app.environment.name === 'live'
  const take = async () => {
    if (!isLive) return reserveTurns(app, url, 1)
    const hit = await app.rateLimiter.hit(`hints:of ${id}`, maxPerSecondOfEndpoint, windowMilliseconds)
    return { count: hit.allowed ? 1 : 0, waitMilliseconds: hit.waitMilliseconds }
  }
  if (await retryUntilReserved(take)) return
  const message = isLive
    ? `At most ${maxPerSecondOfEndpoint} tests and resends of a webhook begin per second; try again`
    : `Sandboxes send at most ${maxPerSecond} hints per second to one origin; try again`
  throw new DomainError('conflict', message, [], 1)
}

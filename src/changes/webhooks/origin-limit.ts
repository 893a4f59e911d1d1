import { DomainError } from '../../core/errors.ts'
import type { AppContext, Environment } from '../../http/context.ts'
import type { Webhook } from './model.ts'

/**
 * Maximum number of attempts per second from all sandboxes together to one origin (decisions §21). Without this limit,
 * a partner could use the sandbox's scenarios and clock to flood someone else's server.
 */
const maxPerSecond = 10
/** Maximum number of attempts per second to one endpoint, so that a backlog does not flood it (decisions §21). */
export const maxPerSecondOfEndpoint = 20
const windowMilliseconds = 1000
/** Maximum wait for one attempt's turn. */
const maxWaitMilliseconds = 5000

export type OriginContext = Pick<AppContext, 'rateLimiter'> & { environment: Pick<Environment, 'name'> }

const windowOf = (url: string) => `hints:${new URL(url).origin}`

/** The number of attempts that may begin, and the time until the next attempt may begin. */
export interface Turns {
  count: number
  waitMilliseconds: number
}

/** Reserves turns for an endpoint's due attempts. Live attempts are not limited here. */
export async function takeTurns(
  { rateLimiter, environment }: OriginContext,
  url: string,
  wanted: number,
): Promise<Turns> {
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

/** Waits for one attempt's turn. Returns false if the turn does not come within five seconds. */
export function awaitTurn(app: OriginContext, url: string): Promise<boolean> {
  return untilTaken(() => takeTurns(app, url, 1))
}

async function untilTaken(take: () => Promise<Turns>): Promise<boolean> {
  const deadline = performance.now() + maxWaitMilliseconds
  for (;;) {
    const { count, waitMilliseconds } = await take()
    if (count === 1) return true
    if (performance.now() + waitMilliseconds > deadline) return false
    await Bun.sleep(waitMilliseconds)
  }
}

/**
 * Waits for the turn of an attempt that an API request has triggered. In a sandbox, the origin's limit applies. On live
 * data, a limit on the endpoint's tests and resends applies; the process that sends the endpoint's hints limits all
 * other attempts.
 *
 * @throws DomainError `conflict` with a retry time if the turn does not come within five seconds
 */
export async function requireTurn(
  app: OriginContext,
  { id, url }: Pick<Webhook, 'id' | 'url'>,
): Promise<void> {
  const isLive = app.environment.name === 'live'
  const take = async () => {
    if (!isLive) return takeTurns(app, url, 1)
    const hit = await app.rateLimiter.hit(`hints:of ${id}`, maxPerSecondOfEndpoint, windowMilliseconds)
    return { count: hit.allowed ? 1 : 0, waitMilliseconds: hit.waitMilliseconds }
  }
  if (await untilTaken(take)) return
  const message = isLive
    ? `At most ${maxPerSecondOfEndpoint} tests and resends of a webhook begin per second; try again`
    : `Sandboxes send at most ${maxPerSecond} hints per second to one origin; try again`
  throw new DomainError('conflict', message, [], 1)
}

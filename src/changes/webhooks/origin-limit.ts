import { DomainError } from '../../core/errors.ts'
import type { AppContext, Environment } from '../../http/context.ts'

/**
 * Maximum number of attempts per second from all sandboxes together to one origin (decisions §21). Without this limit,
 * a key could use its sandbox's scenarios and clock to flood a server that it does not own.
 */
const maxPerSecond = 10
const windowMilliseconds = 1000
/** Maximum wait for one attempt's turn. */
const maxWaitMilliseconds = 5000

export type OriginContext = Pick<AppContext, 'rateLimiter'> & { environment: Pick<Environment, 'name'> }

const windowOf = (url: string) => `hints:${new URL(url).origin}`

/** The number of attempts that may begin, and the milliseconds until the next attempt may begin. */
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
export async function awaitTurn(app: OriginContext, url: string): Promise<boolean> {
  const deadline = performance.now() + maxWaitMilliseconds
  for (;;) {
    const { count, waitMilliseconds } = await takeTurns(app, url, 1)
    if (count === 1) return true
    if (performance.now() + waitMilliseconds > deadline) return false
    await Bun.sleep(waitMilliseconds)
  }
}

/**
 * Waits for the turn of an attempt that an API request has triggered.
 *
 * @throws DomainError `conflict` with a retry time if the turn does not come within five seconds
 */
export async function requireTurn(app: OriginContext, url: string): Promise<void> {
  if (await awaitTurn(app, url)) return
  const message = `Sandboxes send at most ${maxPerSecond} hints a second to one address; try again`
  throw new DomainError('conflict', message, [], 1)
}

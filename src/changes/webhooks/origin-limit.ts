import { DomainError } from '../../core/errors.ts'
import type { AppContext, Environment } from '../../http/context.ts'

/**
 * Tries a second from all sandboxes together to one origin (decisions §21). Without it a key could use scenarios and the
 * clock of its sandbox to flood a server that is not its own.
 */
const maxPerSecond = 10
const windowMilliseconds = 1000
/** How long somebody who asked for a single try waits for its turn. */
const maxWaitMilliseconds = 5000

export type OriginContext = Pick<AppContext, 'rateLimiter'> & { environment: Pick<Environment, 'name'> }

const windowOf = (url: string) => `hints:${new URL(url).origin}`

/** How many tries may begin, and after how many milliseconds the next one may. */
export interface Turns {
  count: number
  waitMilliseconds: number
}

/** Takes turns for tries that are due at an endpoint; live ones have no limit here. */
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

/** Waits for the turn of one try; false if it does not come within five seconds. */
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
 * Waits for the turn of a try that somebody asked for.
 *
 * @throws DomainError `conflict` with a retry time if it does not come within five seconds
 */
export async function requireTurn(app: OriginContext, url: string): Promise<void> {
  if (await awaitTurn(app, url)) return
  const message = `Sandboxes send at most ${maxPerSecond} hints a second to one address; try again`
  throw new DomainError('conflict', message, [], 1)
}

import { DomainError } from '../../../core/errors.ts'
import type { AppContext, Environment } from '../../../http/context.ts'
import { maxPerSecondOfSandboxes, maxWaitMilliseconds, sandboxTurns } from '../../../http/sandbox-turns.ts'
import { type Turn, unlimited } from '../../../platform/outgoing/turns.ts'
import type { Webhook } from '../model.ts'
import { timeoutMilliseconds } from './post.ts'

/** Maximum number of attempts per second to one webhook, so that a backlog does not flood it (decisions §21). */
export const maxPerSecondOfWebhook = 20

export type OriginContext = Pick<AppContext, 'rateLimiter'> & { environment: Pick<Environment, 'name'> }

/**
 * Takes up to `wanted` turns at a URL's origin. Live attempts are not limited here. The caller must end each turn or
 * give it back.
 *
 * A dead process's turns become free 5 s after the time limit of a post, which is also when its attempts are presumed
 * lost.
 */
export async function takeTurns(app: OriginContext, url: string, wanted: number): Promise<Turn[]> {
  if (app.environment.name === 'live') return Array<Turn>(wanted).fill(unlimited)
  return sandboxTurns(app, timeoutMilliseconds).take(url, wanted)
}

/** Waits for a turn at a URL's origin. Returns null if this would take more than five seconds. */
export async function awaitTurn(app: OriginContext, url: string): Promise<Turn | null> {
  if (app.environment.name === 'live') return unlimited
  return sandboxTurns(app, timeoutMilliseconds).wait(url, maxWaitMilliseconds)
}

/** Waits for a turn at a URL's origin for as long as it takes. */
export async function awaitTurnForever(app: OriginContext, url: string): Promise<Turn> {
  for (;;) {
    const turn = await awaitTurn(app, url)
    if (turn) return turn
  }
}

/**
 * Waits until an attempt that an API request triggered may start. In a sandbox, the origin's limit applies. On live
 * data, the webhook's tests and resends have their own limit. The process that sends the webhook's hints limits all
 * other live attempts.
 *
 * @throws DomainError `conflict` with a retry time if the attempt would have to wait for more than five seconds
 */
export async function requireTurn(
  app: OriginContext,
  { id, url }: Pick<Webhook, 'id' | 'url'>,
): Promise<Turn> {
  const isLive = app.environment.name === 'live'
  const turn = isLive ? await awaitTurnOfWebhook(app, id) : await awaitTurn(app, url)
  if (turn) return turn
  const message = isLive
    ? `At most ${maxPerSecondOfWebhook} tests and resends of a webhook can start per second; try again`
    : `Sandboxes send at most ${maxPerSecondOfSandboxes} hints per second to one origin; try again`
  throw new DomainError('conflict', message, [], 1)
}

/** Waits until a webhook's own limit allows a test or a resend. Returns null after five seconds. */
async function awaitTurnOfWebhook({ rateLimiter }: OriginContext, id: number): Promise<Turn | null> {
  const deadline = performance.now() + maxWaitMilliseconds
  for (;;) {
    const hit = await rateLimiter.hit(`hints:of ${id}`, maxPerSecondOfWebhook, 1000)
    if (hit.allowed) return unlimited
    if (performance.now() + hit.waitMilliseconds > deadline) return null
    await Bun.sleep(hit.waitMilliseconds)
  }
}

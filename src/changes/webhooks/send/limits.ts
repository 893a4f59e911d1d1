import { DomainError } from '../../../core/errors.ts'
import type { AppContext, Environment } from '../../../http/context.ts'
import type { Slot } from '../../../platform/shared.ts'
import type { Webhook } from '../model.ts'

/**
 * Maximum number of attempts in any second from all sandboxes combined to one origin (decisions §21). Without this
 * limit, a partner could use the sandbox's scenarios and clock to flood someone else's server.
 */
const maxPerSecond = 10
/** Maximum number of attempts per second to one webhook, so that a backlog does not flood it (decisions §21). */
export const maxPerSecondOfWebhook = 20
/** A little more than a second, because the receiver's clock may run slower than ours. */
const windowMilliseconds = 1020
/**
 * Maximum time that a post holds its turn. A receiver that keeps its connections open without a response would
 * otherwise hold up other sandboxes' attempts to the same origin.
 */
const maxPostMilliseconds = 5000
/** Time after which a dead process's turns become free, which is also when its attempts are presumed lost. */
const lostMilliseconds = 20_000
/** Maximum time that an attempt waits for the rate limit. */
const maxWaitMilliseconds = 5000
/** Pause between two checks for a free turn. */
const pauseMilliseconds = 100

export type OriginContext = Pick<AppContext, 'rateLimiter'> & { environment: Pick<Environment, 'name'> }

/**
 * Permission for one post to an origin. There are ten at a time, and each is held from before the attempt is stored
 * until a second after its post has ended. So whatever happens in between, a slow transaction or a slow connection, no
 * second contains more than ten posts. Counting attempts when they are planned would let two batches that were planned
 * a second apart be posted together.
 *
 *     taken ── begin ──▶ posting ── end, or 5 s ──▶ a second passes ──▶ free
 *       └───── giveBack ─────────────────────────────────────────────────▲
 */
export interface Turn {
  /** Must be called immediately before the post. */
  begin(): void
  /** Must be called once the post has ended. */
  end(): void
  /** Frees a turn that was not used. Does nothing once the turn has begun. */
  giveBack(): void
}

/** Live attempts are not limited here. */
const unlimited: Turn = { begin() {}, end() {}, giveBack() {} }

class OriginTurn implements Turn {
  private state: 'taken' | 'posting' | 'over' = 'taken'
  private timer: ReturnType<typeof setTimeout> | undefined

  constructor(private readonly slot: Slot) {}

  begin(): void {
    this.state = 'posting'
    this.timer = setTimeout(() => this.end(), maxPostMilliseconds)
  }

  end(): void {
    if (this.state !== 'posting') return
    this.state = 'over'
    clearTimeout(this.timer)
    setTimeout(() => this.slot.free(), windowMilliseconds)
  }

  giveBack(): void {
    if (this.state !== 'taken') return
    this.state = 'over'
    this.slot.free()
  }
}

/** Takes up to `wanted` turns at a URL's origin. The caller must end each of them or give it back. */
export async function takeTurns(
  { rateLimiter, environment }: OriginContext,
  url: string,
  wanted: number,
): Promise<Turn[]> {
  if (environment.name === 'live') return Array<Turn>(wanted).fill(unlimited)
  const name = `hints:${new URL(url).origin}`
  const turns: Turn[] = []
  while (turns.length < wanted) {
    const slot = await rateLimiter.slots.take(name, maxPerSecond, lostMilliseconds)
    if (!slot) break
    turns.push(new OriginTurn(slot))
  }
  return turns
}

/** Waits for a turn at a URL's origin. Returns null if this would take more than five seconds. */
export async function awaitTurn(app: OriginContext, url: string): Promise<Turn | null> {
  const deadline = performance.now() + maxWaitMilliseconds
  for (;;) {
    const [turn] = await takeTurns(app, url, 1)
    if (turn) return turn
    if (performance.now() + pauseMilliseconds > deadline) return null
    await Bun.sleep(pauseMilliseconds)
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
    : `Sandboxes send at most ${maxPerSecond} hints per second to one origin; try again`
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

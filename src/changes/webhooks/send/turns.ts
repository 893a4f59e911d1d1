import { DomainError } from '../../../core/errors.ts'
import type { AppContext, Environment } from '../../../http/context.ts'
import type { Slot } from '../../../platform/slots.ts'
import type { Webhook } from '../model.ts'
import { timeoutMilliseconds } from './post.ts'

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
 * Maximum time that a post holds its turn after its request has been sent. A receiver that keeps its connections open
 * without a response would otherwise hold up other sandboxes' attempts to the same origin.
 */
const maxAnswerMilliseconds = 5000
/** Time after which a dead process's turns become free, which is also when its attempts are presumed lost. */
const lostMilliseconds = 20_000
/** Maximum age of a turn when its post begins, so that the turn is not presumed lost while the post lasts. */
const maxAgeMilliseconds = lostMilliseconds - timeoutMilliseconds - windowMilliseconds
/** Maximum time that an attempt waits for the rate limit. */
const maxWaitMilliseconds = 5000
/** Pause between two checks for a free turn. */
const pauseMilliseconds = 100

export type OriginContext = Pick<AppContext, 'rateLimiter'> & { environment: Pick<Environment, 'name'> }

/**
 * Permission for one post to an origin. There are ten at a time, and each is held from before the attempt is stored
 * until a second after its post has ended. So whatever happens in between, a slow transaction, a slow name server or a
 * slow connection, no second contains more than ten posts. Counting attempts when they are planned would let two batches
 * that were planned a second apart be posted together.
 *
 *     taken ── begin ──▶ connecting ── sent ──▶ answering ── end, or 5 s ──▶ a second passes ──▶ free
 *       │                     └──────────────── end ─────────────────────────▲                   ▲
 *       └── giveBack ────────────────────────────────────────────────────────────────────────────┘
 *
 * A turn that has grown too old before its post is exchanged (`freshTurn`), because it would count as lost meanwhile.
 */
export interface Turn {
  /** Returns false if the turn is too old for a post. */
  isFresh(): boolean
  /** Must be called immediately before the post. */
  begin(): void
  /**
   * Called once the request has been sent, so that a silent receiver keeps its turn for 5 s more. Not called for a
   * request on a kept connection, which may be sent again on a new one: its turn is kept until the post ends.
   */
  sent(): void
  /** Must be called once the post has ended. */
  end(): void
  /** Frees a turn that was not used. Does nothing once the turn has begun. */
  giveBack(): void
}

/** Live attempts are not limited here. */
const unlimited: Turn = { isFresh: () => true, begin() {}, sent() {}, end() {}, giveBack() {} }

class OriginTurn implements Turn {
  private state: 'taken' | 'connecting' | 'answering' | 'over' = 'taken'
  private timer: ReturnType<typeof setTimeout> | undefined

  /** @param takenAt `performance.now()` before the slot was taken */
  constructor(
    private readonly slot: Slot,
    private readonly takenAt: number,
  ) {}

  isFresh(): boolean {
    return this.state === 'taken' && performance.now() - this.takenAt <= maxAgeMilliseconds
  }

  begin(): void {
    this.state = 'connecting'
  }

  sent(): void {
    if (this.state !== 'connecting') return
    this.state = 'answering'
    this.timer = setTimeout(() => this.end(), maxAnswerMilliseconds)
  }

  end(): void {
    if (this.state !== 'connecting' && this.state !== 'answering') return
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
  const takenAt = performance.now()
  const slots = await Promise.all(
    Array.from({ length: wanted }, () =>
      rateLimiter.slots.takePatiently(name, maxPerSecond, lostMilliseconds),
    ),
  )
  return slots.filter((slot) => slot !== null).map((slot) => new OriginTurn(slot, takenAt))
}

/** Returns a turn whose post may begin at once: the given turn or, if it is too old, the one that `takeAnother` takes. */
export async function freshTurn(turn: Turn, takeAnother: () => Promise<Turn>): Promise<Turn> {
  if (turn.isFresh()) return turn
  turn.giveBack()
  return takeAnother()
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

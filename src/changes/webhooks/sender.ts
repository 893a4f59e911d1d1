import type { AppContext } from '../../http/context.ts'
import { type AttemptContext, type AttemptWriter, attempt, attemptWriter, failingUntil } from './attempt.ts'
import {
  beginAttempts,
  findInFlight,
  findWaiting,
  trimDeliveries,
  type WaitingDelivery,
} from './deliveries-store.ts'
import type { Webhook } from './model.ts'
import { takeTurns } from './origin-limit.ts'
import { findWebhookIfAny, type WebhookId } from './store.ts'
import { hasUsableKey, turnOff } from './switch.ts'

/** The context for sending hints. */
export type SenderContext = AttemptContext & Pick<AppContext, 'liveDb' | 'log' | 'metrics'>

/** Maximum number of endpoints served concurrently; other endpoints wait until one has nothing due. */
const maxEndpoints = 1000
/** Maximum number of concurrent attempts to one endpoint (decisions §21). */
const maxInFlight = 10
/** Maximum number of attempts per second to one endpoint, so that a backlog does not flood it (decisions §21). */
const maxPerSecond = 20
/** Pause while the rate limit is exhausted, after which several attempts begin together. */
const ratePauseMilliseconds = 250
/** Time after which a dead process's attempt is repeated; longer than any attempt, and less than 30 s. */
const lostMilliseconds = 20_000
/** An endpoint is served until nothing is due within this time. */
const restMilliseconds = 2000
/** On average, one attempt in this many trims the delivery log to the deliveries that are shown. */
const trimEveryAttempts = 50

/** Sends due hints endpoint by endpoint, so that a slow endpoint delays only its own hints. */
export class HintSender {
  /** The endpoints that are being served. */
  private readonly serving = new Map<string, Endpoint>()
  /** Due times of the other planned endpoints, by their hosts' clocks. */
  private readonly planned = new Map<string, { webhook: WebhookId; at: Date }>()
  /** The latest attempts of endpoints that are no longer served. They still count against `maxPerSecond`. */
  private readonly begunAt = new Map<string, number[]>()
  private readonly write: AttemptWriter

  /** @param mayWork returns false once no more attempts may begin */
  constructor(
    private readonly app: SenderContext,
    private readonly mayWork: () => boolean,
  ) {
    this.write = attemptWriter(app.db)
  }

  /** Sends an endpoint's due hints at the given time by its host's clock, unless it is planned for earlier. */
  plan({ host_id, id }: WebhookId, at: Date): void {
    const name = `${host_id}/${id}`
    const isDue = at <= this.app.clock(host_id)
    const served = this.serving.get(name)
    if (isDue && served) {
      served.lookAgain()
      return
    }
    if (!isDue || !this.mayWork() || this.serving.size >= maxEndpoints) {
      const planned = this.planned.get(name)
      if (!planned || at < planned.at) this.planned.set(name, { webhook: { host_id, id }, at })
      return
    }
    this.planned.delete(name)
    const endpoint = new Endpoint(
      this.app,
      { host_id, id },
      this.write,
      this.mayWork,
      this.begunAt.get(name) ?? [],
    )
    this.serving.set(name, endpoint)
    endpoint.ended.then((next) => {
      this.serving.delete(name)
      this.begunAt.set(name, endpoint.begunAt)
      if (endpoint.mustLook) this.plan({ host_id, id }, new Date(0))
      else if (next) this.plan({ host_id, id }, next)
    })
  }

  /** Sends the due hints of all planned endpoints for which there is room. */
  sendDue(): void {
    for (const [name, begunAt] of this.begunAt)
      if (withinSecond(begunAt).length === 0) this.begunAt.delete(name)
    for (const { webhook, at } of this.planned.values())
      if (at <= this.app.clock(webhook.host_id)) this.plan(webhook, at)
  }

  /** Resolves once all attempts have ended. Call it only after `mayWork` has become false. */
  async ended(): Promise<void> {
    for (const endpoint of this.serving.values()) endpoint.lookAgain()
    await Promise.all([...this.serving.values()].map(({ ended }) => ended))
  }
}

/** Sends an endpoint's hints until none is due, up to ten concurrently and at most one per booking. */
class Endpoint {
  /** Booking ids of this process's attempts, keyed by delivery id. */
  private readonly inFlight = new Map<string, number | null>()
  private moved = Promise.withResolvers<void>()
  /** True if the most recently ended attempt failed. */
  private hasFailed = false
  /** True if hints may be waiting for an attempt to end, for lack of room or because they share its booking. */
  private hasHeldBack = false
  /** True if something has become due or has changed since the endpoint was last looked at. */
  mustLook = false
  /** Resolves once nothing is due soon and nothing is in flight, with the time of the next look; null for none. */
  readonly ended: Promise<Date | null>

  /**
   * @param mayWork returns false once no more attempts may begin
   * @param begunAt start times of the endpoint's attempts within the last second, oldest first
   */
  constructor(
    private readonly app: SenderContext,
    private readonly id: WebhookId,
    private readonly write: AttemptWriter,
    private readonly mayWork: () => boolean,
    public begunAt: number[],
  ) {
    this.ended = this.run()
  }

  lookAgain(): void {
    this.mustLook = true
    this.moved.resolve()
  }

  private async run(): Promise<Date | null> {
    let next: Date | null = null
    do {
      this.mustLook = false
      next = await this.beginDue().catch((error) => this.pauseAfter(error))
    } while (await this.rest(next))
    while (this.inFlight.size > 0) await this.nextMove()
    return next
  }

  /** Waits until an attempt ends or something is due. Returns false if there is nothing to wait for. */
  private async rest(next: Date | null): Promise<boolean> {
    while (this.mayWork()) {
      const untilDue = next === null ? Number.POSITIVE_INFINITY : next.getTime() - this.now().getTime()
      if (this.mustLook || untilDue <= 0) return true
      if (untilDue > restMilliseconds && this.inFlight.size === 0) return false
      await Promise.race([this.nextMove(), Bun.sleep(Math.min(untilDue, restMilliseconds))])
    }
    return false
  }

  private nextMove(): Promise<void> {
    this.moved = Promise.withResolvers<void>()
    return this.moved.promise
  }

  private async pauseAfter(error: unknown): Promise<null> {
    this.app.log.warn({ error: String(error) }, 'Cannot send hints')
    await Bun.sleep(1000)
    this.mustLook = true
    return null
  }

  /** Begins the attempts that are due. Returns the time of the next look, by the host's clock; null for none. */
  private async beginDue(): Promise<Date | null> {
    const { app, id } = this
    const webhook = await findWebhookIfAny(app.db, id)
    if (!webhook?.enabled) return null
    if (!(await hasUsableKey(app, webhook))) {
      await turnOff(app, webhook, 'key_ended')
      return null
    }
    const now = this.now()
    const after = (milliseconds: number) => new Date(now.getTime() + milliseconds)
    // Other processes' attempts count too, because a process may have lost the lease or died during its attempts.
    const inFlight = new Map([...(await findInFlight(app.db, id, now)), ...this.inFlight])
    const isShared = inFlight.size > this.inFlight.size
    const room = this.room(inFlight.size)
    const waiting = await findWaiting(app.db, id, inFlight, now, room + 1)
    const due = waiting.slice(0, room).filter(({ next_attempt_at }) => next_attempt_at <= now)
    const candidates = firstOfEachBooking(due)
    const turns = await takeTurns(app, webhook.url, candidates.length)
    const first = candidates.slice(0, turns.count)
    if (first.length > 0)
      for (const delivery of await beginAttempts(app.db, id, first, now, after(lostMilliseconds)))
        this.begin(webhook, delivery)
    const later = waiting[due.length]
    this.hasHeldBack =
      inFlight.size > 0 || first.length < due.length || (later !== undefined && later.next_attempt_at <= now)
    if (turns.waitMilliseconds > 0) return after(turns.waitMilliseconds)
    if (isShared) return after(restMilliseconds)
    if (later && later.next_attempt_at > now) return later.next_attempt_at
    // If only the number in flight limits the attempts, the end of an attempt triggers a look anyway.
    if (later) return after(this.begunAt.length < maxPerSecond ? restMilliseconds : ratePauseMilliseconds)
    if (!webhook.failing_since) return null
    const end = failingUntil(webhook.failing_since)
    if (end > now || this.inFlight.size > 0) return end
    await turnOff(app, webhook, 'failing')
    return null
  }

  /** Begins an attempt. Its end triggers another look if it failed, or if hints were held back and there is room. */
  private begin(webhook: Webhook, delivery: WaitingDelivery): void {
    const { app, write } = this
    const name = String(delivery._id)
    this.inFlight.set(name, delivery.booking_id)
    this.begunAt.push(performance.now())
    // Evaluated when the response arrives, because other attempts may end in the meantime.
    const mayBeFailing = () => webhook.failing_since !== null || this.hasFailed
    attempt(app, write, webhook, delivery, mayBeFailing)
      .then(async (isDelivered) => {
        this.hasFailed = !isDelivered
        app.metrics.countHint(isDelivered)
        if (Math.random() * trimEveryAttempts < 1) await trimDeliveries(app.db, webhook)
        return isDelivered
      })
      .catch((error) => {
        app.log.warn({ error: String(error) }, 'Cannot send a hint')
        return false
      })
      .then((isDelivered) => {
        this.inFlight.delete(name)
        // A failed delivery is rescheduled, and the endpoint may have begun to fail or been turned off.
        if (!isDelivered || (this.hasHeldBack && this.room(this.inFlight.size) > 0)) this.mustLook = true
        this.moved.resolve()
      })
  }

  /** Returns the number of attempts that may begin now. */
  private room(inFlight: number): number {
    this.begunAt = withinSecond(this.begunAt)
    return Math.max(0, Math.min(maxInFlight - inFlight, maxPerSecond - this.begunAt.length))
  }

  /** Returns the time by the host's clock, which dates deliveries. */
  private now(): Date {
    return this.app.clock(this.id.host_id)
  }
}

/** Keeps the times, on the clock of `performance.now()`, that lie within the last second. */
function withinSecond(times: number[]): number[] {
  const secondAgo = performance.now() - 1000
  return times.filter((at) => at > secondAgo)
}

/** Keeps all tests and each booking's first delivery, since a booking has at most one delivery in flight. */
function firstOfEachBooking(deliveries: WaitingDelivery[]): WaitingDelivery[] {
  const bookings = new Set<number>()
  return deliveries.filter(({ booking_id }) => {
    if (booking_id === null) return true
    const isFirst = !bookings.has(booking_id)
    bookings.add(booking_id)
    return isFirst
  })
}

import type { AppContext } from '../../http/context.ts'
import {
  beginTries,
  findInFlight,
  findWaiting,
  trimDeliveries,
  type WaitingDelivery,
} from './deliveries-store.ts'
import { takeDue } from './due-store.ts'
import type { Endings } from './endings.ts'
import type { Webhook } from './model.ts'
import { takeTurns } from './origin-limit.ts'
import { hasUsableKey } from './owner.ts'
import type { WebhookId } from './store.ts'
import { hasFailedTooLong, type TryContext, tryDelivery, turnOff } from './try-delivery.ts'

/** The context for sending hints to an endpoint. */
export type EndpointContext = TryContext & Pick<AppContext, 'liveDb' | 'log' | 'metrics'>

/** Maximum number of concurrent attempts (decisions §21). */
const maxInFlight = 10
/** Maximum number of attempts per second, so that a backlog does not become a flood (decisions §21). */
const maxPerSecond = 20
/** Once the rate limit is exhausted, attempts start in batches of this size instead of costing a query each. */
const begunTogether = 5
/** Time after which a dead process's attempt is repeated; longer than any attempt, and less than 30 s. */
export const lostMilliseconds = 20_000
/** Hints that are due within this time are waited for; hints that are due later are found by polling. */
const restMilliseconds = 2000
/** On average, one attempt in this many trims the delivery log to the deliveries that are shown. */
const trimEveryTries = 50

/** Sends an endpoint's hints until none is due, up to ten concurrently and at most one per booking. */
export class Endpoint {
  /** Booking ids of the attempts in flight, keyed by delivery id. */
  private readonly inFlight = new Map<string, number | null>()
  /** Booking ids of the attempts that the previous lease holder has in flight. */
  private inherited: (number | null)[] = []
  /** Start times of the attempts within the last second, oldest first. */
  private begunAt: number[] = []
  private moved = Promise.withResolvers<void>()
  /** True if the attempt that ended last failed. */
  private hasFailed = false
  /** True if hints may be waiting for an attempt to end, for lack of room or because they share its booking. */
  private hasHeldBack = false
  /** True if something has become due or has changed since the endpoint was last looked at. */
  mustLook = false
  /** Resolves once nothing is due soon and nothing is in flight. */
  readonly ended: Promise<void>

  /**
   * @param mayWork returns false once no more attempts may begin
   * @param mayInherit returns true while another process may have attempts in flight
   */
  constructor(
    private readonly app: EndpointContext,
    private readonly id: WebhookId,
    private readonly endings: Endings,
    private readonly mayWork: () => boolean,
    private readonly mayInherit: () => boolean,
  ) {
    this.ended = this.run()
  }

  lookAgain(): void {
    this.mustLook = true
    this.moved.resolve()
  }

  private async run(): Promise<void> {
    let taken = new Date(0)
    let next: Date | null = null
    do {
      this.mustLook = false
      taken = this.realAt(lostMilliseconds)
      next = await this.beginDue(taken).catch((error) => this.pauseAfter(error))
    } while (await this.rest(next))
    while (this.inFlight.size > 0) await this.nextMove()
    const due_at = this.mustLook || !this.mayWork() ? this.realAt(0) : next
    await this.endings.leave({ ...this.id, taken, due_at }).catch(() => {})
  }

  /** Waits until an attempt ends or something is due. Returns false if there is nothing to wait for. */
  private async rest(next: Date | null): Promise<boolean> {
    while (this.mayWork()) {
      const untilDue = next === null ? Number.POSITIVE_INFINITY : next.getTime() - this.realAt(0).getTime()
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

  /**
   * Begins the attempts that are due.
   *
   * @param until time at which the endpoint is due again if this process dies
   * @returns the time at which something is due next; null if nothing is
   */
  private async beginDue(until: Date): Promise<Date | null> {
    const { db } = this.app
    const webhook = await takeDue(db, this.id, until)
    if (!webhook) return null
    if (!(await hasUsableKey(this.app, webhook))) {
      await turnOff(this.app, webhook, 'key_ended')
      return null
    }
    await this.readInherited(webhook)
    const [room, busy, now] = [this.room(), this.busyBookings(), this.at(0)]
    const waiting = await findWaiting(db, webhook, { now, busy }, room + 1)
    if (waiting.length === 0 && this.inFlight.size === 0 && hasFailedTooLong(webhook, now))
      await turnOff(this.app, webhook, 'failing')
    const due = waiting.slice(0, room).filter(({ next_attempt_at }) => next_attempt_at <= now)
    const candidates = firstOfEachBooking(due)
    const turns = await takeTurns(this.app, webhook.url, candidates.length)
    const first = candidates.slice(0, turns.count)
    if (first.length > 0)
      for (const delivery of await beginTries(db, webhook, first, this.at(lostMilliseconds)))
        this.begin(webhook, delivery)
    const later = waiting[due.length]
    this.hasHeldBack =
      busy.length > 0 || first.length < due.length || (later !== undefined && later.next_attempt_at <= now)
    if (turns.waitMilliseconds > 0) return this.realAt(turns.waitMilliseconds)
    if (this.inherited.length > 0) return this.realAt(restMilliseconds)
    if (!later) return null
    const untilDue = later.next_attempt_at.getTime() - now.getTime()
    return this.realAt(untilDue > 0 ? untilDue : this.untilRoom())
  }

  private begin(webhook: Webhook, delivery: WaitingDelivery): void {
    const name = String(delivery._id)
    this.inFlight.set(name, delivery.booking_id)
    this.begunAt.push(performance.now())
    this.try(webhook, delivery)
      .catch((error) => {
        this.app.log.warn({ error: String(error) }, 'Cannot send a hint')
        return false
      })
      .then((isDelivered) => {
        this.inFlight.delete(name)
        // A failed delivery is rescheduled, and the endpoint may have begun to fail or been turned off.
        if (!isDelivered || (this.hasHeldBack && this.room() > 0)) this.mustLook = true
        this.moved.resolve()
      })
  }

  /** Attempts a delivery once. Returns true if it was delivered. */
  private async try(webhook: Webhook, delivery: WaitingDelivery): Promise<boolean> {
    // Evaluated when the response arrives, because other attempts may end in the meantime.
    const mayBeFailing = () => webhook.failing_since !== null || this.hasFailed
    const isDelivered = await tryDelivery(this.app, this.endings, webhook, delivery, mayBeFailing)
    this.hasFailed = !isDelivered
    this.app.metrics.countHint(isDelivered)
    if (Math.random() * trimEveryTries < 1) await trimDeliveries(this.app.db, webhook)
    return isDelivered
  }

  /** Returns the number of attempts that may begin now. */
  private room(): number {
    const secondAgo = performance.now() - 1000
    this.begunAt = this.begunAt.filter((at) => at > secondAgo)
    const inFlight = this.inFlight.size + this.inherited.length
    return Math.max(0, Math.min(maxInFlight - inFlight, maxPerSecond - this.begunAt.length))
  }

  /**
   * Returns the milliseconds until the rate limit allows more attempts. If only the number in flight limits them,
   * returns the time until the next poll, because the end of an attempt triggers a look anyway.
   */
  private untilRoom(): number {
    const oldest = this.begunAt[begunTogether - 1]
    if (oldest === undefined || this.begunAt.length < maxPerSecond) return restMilliseconds
    return Math.max(1, oldest + 1000 - performance.now())
  }

  /** Returns the bookings with a hint in flight, whose other hints must wait. */
  private busyBookings(): number[] {
    return [...this.inFlight.values(), ...this.inherited].filter((booking) => booking !== null)
  }

  /** Loads the previous lease holder's attempts in flight, which count like this process's own. */
  private async readInherited(webhook: Webhook): Promise<void> {
    if (!this.mayInherit()) {
      this.inherited = []
      return
    }
    const trying = await findInFlight(this.app.db, webhook, this.at(0))
    const others = trying.filter(({ _id }) => !this.inFlight.has(String(_id)))
    this.inherited = others.map(({ booking_id }) => booking_id)
  }

  /** Returns the time `milliseconds` from now by the host's clock, which dates deliveries. */
  private at(milliseconds: number): Date {
    return new Date(this.app.clock(this.id.host_id).getTime() + milliseconds)
  }

  /** Returns the time `milliseconds` from now by the process's clock, which decides when endpoints are due. */
  private realAt(milliseconds: number): Date {
    return new Date(this.app.clock().getTime() + milliseconds)
  }
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

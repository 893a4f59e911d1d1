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

/** The context of what is sent to an endpoint. */
export type EndpointContext = TryContext & Pick<AppContext, 'liveDb' | 'log' | 'metrics'>

/** Tries at once (decisions §21). */
const maxInFlight = 10
/** Tries a second (decisions §21): a backlog does not become a flood. */
const maxPerSecond = 20
/** One by one, each would have to be looked for. */
const begunTogether = 5
/** A try of a process that died is made again after this long: longer than any try takes, and within 30 s. */
export const lostMilliseconds = 20_000
/** What is due sooner is waited for, what is due later is found by looking. */
const restMilliseconds = 2000
/** The log of deliveries is cut to what is shown after one try of so many. */
const trimEveryTries = 50

/** Sends what is due at one endpoint until nothing is: ten at once, at most one of each booking. */
export class Endpoint {
  /** The bookings of the tries in flight, by delivery. */
  private readonly inFlight = new Map<string, number | null>()
  /** Those of the process that held the lease before. */
  private inherited: (number | null)[] = []
  /** When the last tries began, oldest first. */
  private begunAt: number[] = []
  private moved = Promise.withResolvers<void>()
  /** The last try that ended has failed. */
  private hasFailed = false
  /** Others wait for a try to end: for room, or because they are of the same booking. */
  private hasHeldBack = false
  /** Something is due, or was changed, since it was looked at. */
  mustLook = false
  /** Resolves when nothing is due soon and nothing in flight. */
  readonly ended: Promise<void>

  /**
   * @param mayWork false as soon as no try may begin any more
   * @param mayInherit true while another process may have tries in flight
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

  /** Waits until something moves or is due; false when there is nothing to wait for. */
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
   * Begins the tries that are due.
   *
   * @param until when the endpoint is due again if this process dies
   * @returns when something is due next; null for nothing
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
        // It is due again, and the endpoint may be failing now, or off.
        if (!isDelivered || (this.hasHeldBack && this.room() > 0)) this.mustLook = true
        this.moved.resolve()
      })
  }

  /** True for a hint that was delivered. */
  private async try(webhook: Webhook, delivery: WaitingDelivery): Promise<boolean> {
    // Asked once the response is there: other tries end meanwhile.
    const mayBeFailing = () => webhook.failing_since !== null || this.hasFailed
    const isDelivered = await tryDelivery(this.app, this.endings, webhook, delivery, mayBeFailing)
    this.hasFailed = !isDelivered
    this.app.metrics.countHint(isDelivered)
    if (Math.random() * trimEveryTries < 1) await trimDeliveries(this.app.db, webhook)
    return isDelivered
  }

  /** How many tries may begin now. */
  private room(): number {
    const secondAgo = performance.now() - 1000
    this.begunAt = this.begunAt.filter((at) => at > secondAgo)
    const inFlight = this.inFlight.size + this.inherited.length
    return Math.max(0, Math.min(maxInFlight - inFlight, maxPerSecond - this.begunAt.length))
  }

  /** Milliseconds until some may begin, or until it is looked at anyway: the end of a try is told at once. */
  private untilRoom(): number {
    const oldest = this.begunAt[begunTogether - 1]
    if (oldest === undefined || this.begunAt.length < maxPerSecond) return restMilliseconds
    return Math.max(1, oldest + 1000 - performance.now())
  }

  /** At most one hint of each booking is in flight. */
  private busyBookings(): number[] {
    return [...this.inFlight.values(), ...this.inherited].filter((booking) => booking !== null)
  }

  /** Tries of the process that held the lease before count like own ones. */
  private async readInherited(webhook: Webhook): Promise<void> {
    if (!this.mayInherit()) {
      this.inherited = []
      return
    }
    const trying = await findInFlight(this.app.db, webhook, this.at(0))
    const others = trying.filter(({ _id }) => !this.inFlight.has(String(_id)))
    this.inherited = others.map(({ booking_id }) => booking_id)
  }

  /** By the clock of the endpoint's host: what deliveries say. */
  private at(milliseconds: number): Date {
    return new Date(this.app.clock(this.id.host_id).getTime() + milliseconds)
  }

  /** By the clock of processes: when the endpoint is looked at. */
  private realAt(milliseconds: number): Date {
    return new Date(this.app.clock().getTime() + milliseconds)
  }
}

/** At most one hint of each booking is in flight. */
function firstOfEachBooking(deliveries: WaitingDelivery[]): WaitingDelivery[] {
  const bookings = new Set<number>()
  return deliveries.filter(({ booking_id }) => {
    if (booking_id === null) return true
    const isFirst = !bookings.has(booking_id)
    bookings.add(booking_id)
    return isFirst
  })
}

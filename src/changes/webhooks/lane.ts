import type { AppContext } from '../../http/context.ts'
import type { Watch } from '../../versions/watch.ts'
import { collectHints } from './collect.ts'
import {
  beginTry,
  findInFlight,
  findWaiting,
  trimDeliveries,
  type WaitingDelivery,
} from './deliveries-store.ts'
import { isBackedUp } from './hints-store.ts'
import { InFlight } from './in-flight.ts'
import type { Webhook, WebhookDelivery } from './model.ts'
import { hasUsableKey } from './owner.ts'
import { findWebhookIfAny, type WebhookId } from './store.ts'
import { hasFailedTooLong, isSuccess, type TryContext, tryDelivery, turnOff } from './try-delivery.ts'

/** The context of a lane. */
export type LaneContext = TryContext & Pick<AppContext, 'changes' | 'liveDb' | 'log' | 'metrics'>

/** Why a lane ended, as far as the next one needs to know. */
export interface LaneEnd {
  /** When somebody last wanted something of the endpoint, as this lane knows. */
  nudgedAt: Date
  /** When something is due; null for not until its host moves. */
  dueAt: Date | null
}

/** A try of a process that died is made again after this long: longer than any try takes, and within 30 s. */
const lostMilliseconds = 20_000
/** How long an endpoint at which nothing is due is held on to: one whose host is busy is not claimed for each change. */
const restMilliseconds = 2000
/** An endpoint whose host is busy is looked at this often: changes that come together are hinted together. */
const paceMilliseconds = 200
/** Tries after which the log of deliveries is cut to what is shown. */
const trimEveryTries = 50

/**
 * Sends the hints of one endpoint, for as long as this process holds it. Ten at once, at most one of each booking; a slow
 * endpoint keeps nothing waiting but its own hints.
 */
export class Lane {
  private readonly inFlight = new InFlight()
  private signal = Promise.withResolvers<void>()
  private stopped = false
  private lastNudge: number | null | undefined
  private nudgedAt = new Date(0)
  private mayHaveNew = true
  private mayBeDue = true
  /** More is due than can be tried at once. */
  private hasBacklog = false
  /** Deliveries behind a booking that was being tried were not looked at. */
  private hasHeldBack = false
  private nextDue = Number.POSITIVE_INFINITY
  /** The last try that ended has failed. */
  private hasFailed = false
  private tries = 0
  readonly ended: Promise<LaneEnd>
  /** False from the moment on in which nothing wakes it any more. */
  isOpen = true

  constructor(
    private readonly app: LaneContext,
    private readonly owner: string,
    readonly webhook: WebhookId,
  ) {
    this.ended = this.run()
  }

  /** @param nudge when somebody last wanted something of the endpoint; null when this process does not hold it */
  nudge(nudge: number | null): void {
    if (nudge === this.lastNudge) return
    this.lastNudge = nudge
    this.lookAgain()
  }

  /** Finishes the tries in progress. */
  async stop(): Promise<void> {
    this.stopped = true
    this.signal.resolve()
    await this.ended
  }

  private lookAgain(): void {
    this.mayHaveNew = true
    this.mayBeDue = true
    this.signal.resolve()
  }

  private async run(): Promise<LaneEnd> {
    const { host_id } = this.webhook
    const watches = (['last', 'messages_last'] as const).map((counter) =>
      this.app.changes.watch(host_id, counter),
    )
    for (const watch of watches) this.follow(watch)
    while (!this.stopped) {
      this.signal = Promise.withResolvers<void>()
      const paced = Bun.sleep(paceMilliseconds)
      try {
        const webhook = await findWebhookIfAny(this.app.db, this.webhook)
        if (!webhook?.enabled || webhook.lane_owner !== this.owner) break
        this.nudgedAt = webhook.nudged_at
        await this.work(webhook)
        if (await this.rest()) break
        if (!this.stopped && !this.hasBacklog) await paced
      } catch (error) {
        this.app.log.warn({ error: String(error) }, 'Cannot send hints')
        this.lookAgain()
        await Bun.sleep(1000)
      }
    }
    this.isOpen = false
    for (const watch of watches) watch.end()
    await this.inFlight.ended()
    return { nudgedAt: this.nudgedAt, dueAt: this.dueAt() }
  }

  /** The time of the next look: at once if the lane ended in the middle of something. */
  private dueAt(): Date | null {
    if (this.stopped || this.mayHaveNew || this.mayBeDue || this.inFlight.isBusy) return this.app.clock()
    return Number.isFinite(this.nextDue) ? new Date(this.nextDue) : null
  }

  private async follow(watch: Watch): Promise<void> {
    while (!this.stopped && (await watch.next()) === 'moved') {
      this.mayHaveNew = true
      this.signal.resolve()
    }
  }

  /** Makes hints, and starts the tries that are due. */
  private async work(webhook: Webhook): Promise<void> {
    if (!(await hasUsableKey(this.app, webhook))) return turnOff(this.app, webhook, 'key_ended')
    await this.lookAtInherited(webhook)
    if (this.mayHaveNew) await this.collect(webhook)
    if (!this.mayBeDue) return
    const room = this.inFlight.room()
    // Whichever try ends first makes room, or the next second.
    if (room <= 0) return
    this.mayBeDue = false
    const now = this.app.clock()
    const busyBookings = this.inFlight.busyBookings()
    this.hasHeldBack = busyBookings.length > 0
    const waiting = await findWaiting(this.app.db, webhook, busyBookings, room + 1)
    const due = waiting.filter(({ next_attempt_at }) => next_attempt_at <= now)
    for (const delivery of due.slice(0, room)) this.tryDue(webhook, delivery)
    this.hasBacklog = due.length > room
    this.nextDue = waiting[due.length]?.next_attempt_at.getTime() ?? Number.POSITIVE_INFINITY
    if (waiting.length === 0 && this.inFlight.size === 0 && hasFailedTooLong(webhook, now))
      await turnOff(this.app, webhook, 'failing')
  }

  /** Tries of the process that held the endpoint before count like this one's own. */
  private async lookAtInherited(webhook: Webhook): Promise<void> {
    if (!this.inFlight.mayInherit) return
    this.inFlight.inherit(await findInFlight(this.app.db, webhook, this.app.clock()))
  }

  private async collect(webhook: Webhook): Promise<void> {
    // Before anything is read: what moves meanwhile sets it again.
    this.mayHaveNew = false
    const hasWaiting = this.hasBacklog || Number.isFinite(this.nextDue)
    if (hasWaiting && (await isBackedUp(this.app.db, webhook))) return
    const atOnce = {
      room: this.hasBacklog ? 0 : this.inFlight.room(),
      busyBookings: this.inFlight.busyBookings(),
      lostAt: this.lostAt(),
    }
    const { begun, hasOthers, hasMore } = await collectHints(this.app, webhook, atOnce)
    for (const delivery of begun) this.tryBegun(webhook, delivery)
    if (hasOthers) this.mayBeDue = true
    if (hasMore) this.mayHaveNew = true
  }

  /** Until something moves, or is due; true when nothing did, is, or is being tried. */
  private async rest(): Promise<boolean> {
    if (this.stopped || (this.mayHaveNew && !this.hasBacklog)) return false
    const untilDue = this.nextDue - this.app.clock().getTime()
    const longest = this.mayBeDue || this.inFlight.mayInherit ? paceMilliseconds : restMilliseconds
    const rested = Bun.sleep(Math.max(1, Math.min(longest, untilDue))).then(() => true)
    if (!(await Promise.race([this.signal.promise, rested]))) return false
    if (this.mayBeDue || this.inFlight.isBusy || untilDue <= restMilliseconds) {
      this.mayBeDue = true
      return false
    }
    return !this.mayHaveNew
  }

  private lostAt(): Date {
    return new Date(this.app.clock().getTime() + lostMilliseconds)
  }

  /** Begins a try of a delivery that waits, unless its booking is busy or another process has begun one. */
  private tryDue(webhook: Webhook, delivery: WaitingDelivery): void {
    const { booking_id } = delivery
    if (this.inFlight.has(String(delivery._id))) return
    if (booking_id !== null && this.inFlight.busyBookings().includes(booking_id)) {
      this.mayBeDue = true
      return
    }
    this.hold(delivery, async () => {
      const begun = await beginTry(this.app.db, delivery, this.lostAt())
      return begun !== null && (await this.tryOnce(webhook, begun))
    })
  }

  private tryBegun(webhook: Webhook, begun: WebhookDelivery): void {
    this.hold(begun, () => this.tryOnce(webhook, begun))
  }

  /** @param work a try; true when the hint was delivered */
  private hold({ _id, booking_id }: WebhookDelivery, work: () => Promise<boolean>): void {
    const name = String(_id)
    const end = (isDelivered: boolean) => {
      this.inFlight.delete(name)
      // It is due again, and the endpoint may be failing now, or off.
      if (!isDelivered || this.hasBacklog || this.hasHeldBack) this.mayBeDue = true
      if (this.mayBeDue) this.signal.resolve()
    }
    const done = work().then(end, (error) => {
      this.app.log.warn({ error: String(error) }, 'Cannot send a hint')
      end(false)
    })
    this.inFlight.add(name, booking_id, done)
  }

  private async tryOnce(webhook: Webhook, begun: WebhookDelivery): Promise<boolean> {
    // Asked once the response is there: other tries end meanwhile.
    const mayBeFailing = () => webhook.failing_since !== null || this.hasFailed
    const isDelivered = isSuccess(await tryDelivery(this.app, webhook, begun, mayBeFailing))
    this.hasFailed = !isDelivered
    this.app.metrics.countHint(isDelivered)
    this.tries += 1
    if (this.tries % trimEveryTries === 0) await trimDeliveries(this.app.db, webhook)
    return isDelivered
  }
}

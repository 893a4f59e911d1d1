import type { AppContext, Environment } from '../../http/context.ts'
import { holdLease, releaseLease } from '../../platform/mongo/lease.ts'
import { withTimeoutOrNull } from '../../platform/time-limits.ts'
import { HintCollector } from './collector.ts'
import type { EndpointContext } from './endpoint.ts'
import { turnOffEnded } from './key-end.ts'
import { HintSender } from './sender.ts'

/** How often the lease is renewed, and endpoints are looked for at which something is due. */
const lookEveryMilliseconds = 1000
/** The work of a process that died is taken over after so many looks. */
const leaseLooks = 2.5
/** A receiver may take its time, a process that ends may not. */
const stopMilliseconds = 5000

/**
 * Hints the partners' endpoints, in one living process at a time, by a lease: two would send the same hint, and more than
 * one of a booking at once (decisions §21). What moves is collected, what is due is sent; nothing is done for an endpoint
 * of which neither is true.
 */
export class WebhookWorker {
  private readonly lease = { name: 'webhooks', owner: crypto.randomUUID() }
  private heldUntil = new Date(0)
  private readonly collector: HintCollector
  private readonly sender: HintSender
  private following: { end(): void } | undefined
  private timer: ReturnType<typeof setInterval> | undefined
  private looking: Promise<void> | undefined
  private isStopped = false

  constructor(
    private readonly app: EndpointContext &
      Pick<AppContext, 'changes' | 'clockWatch'> & { environment: Pick<Environment, 'refreshClocks'> },
  ) {
    const mayWork = () => !this.isStopped && this.isHolder() && app.clockWatch.isSound()
    this.sender = new HintSender(app, mayWork)
    this.collector = new HintCollector(app, mayWork, (webhook) => this.sender.send(webhook))
  }

  start(): void {
    this.timer = setInterval(() => this.wake(), lookEveryMilliseconds)
    this.timer.unref()
    this.wake()
  }

  /** Looks now for endpoints at which something is due. */
  wake(): void {
    this.looking ??= this.look()
      .catch((error) => this.app.log.warn({ error: String(error) }, 'Cannot look for webhooks'))
      .finally(() => {
        this.looking = undefined
      })
  }

  /** Finishes the tries in progress, for a while, and leaves the rest to the next process. */
  async stop(): Promise<void> {
    this.isStopped = true
    // The lease is renewed until the last try has ended: nobody else sends meanwhile.
    await withTimeoutOrNull(this.handOver(), stopMilliseconds)
    clearInterval(this.timer)
    await this.looking
  }

  private isHolder(): boolean {
    return this.heldUntil > this.app.clockWatch.databaseNow()
  }

  private async look(): Promise<void> {
    const { db, clockWatch } = this.app
    const wasHolder = this.isHolder()
    if (!wasHolder && (this.isStopped || !clockWatch.isSound())) return
    const now = clockWatch.databaseNow()
    const until = new Date(now.getTime() + leaseLooks * lookEveryMilliseconds)
    if (!(await holdLease(db, this.lease, now, until))) return this.unfollow()
    this.heldUntil = until
    if (this.isStopped) return
    // It would sign wrong times, and try too early or too late: another process does it.
    if (!clockWatch.isSound()) return void this.handOver()
    if (wasHolder) this.collector.resume()
    else this.takeOver()
    await turnOffEnded(this.app)
    await this.app.environment.refreshClocks?.()
    for (const webhook of await this.sender.findDue()) {
      // What was made or turned on meanwhile may have missed its host's move.
      this.collector.notice(webhook.host_id)
      this.sender.send(webhook)
    }
  }

  private takeOver(): void {
    this.unfollow()
    this.following = this.app.changes.follow((hostId) => this.collector.notice(hostId))
    this.sender.inherit()
    this.collector.notice('any')
  }

  private unfollow(): void {
    this.following?.end()
    this.following = undefined
  }

  private async handOver(): Promise<void> {
    this.unfollow()
    await Promise.all([this.collector.ended(), this.sender.ended()])
    await this.looking
    this.heldUntil = new Date(0)
    await releaseLease(this.app.db, this.lease)
  }
}

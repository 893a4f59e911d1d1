import { withTrace } from '../../../core/trace.ts'
import type { AppContext } from '../../../http/context.ts'
import { RenewedLease } from '../../../platform/mongo/lease.ts'
import { withTimeoutOrNull } from '../../../platform/time-limits.ts'
import { hasWebhooks } from '../store.ts'
import { turnOffExpired } from '../turn-off.ts'
import { HintSender, type SenderContext } from './sender.ts'

/** Interval at which the lease is renewed and hosts with due hints are checked. */
const intervalMilliseconds = 1000
/** Number of intervals between two searches while no webhook is known, because another process may add the first. */
const intervalsPerSearch = 5
/** Duration of the lease in intervals. If the holder dies, another process takes over once the lease expires. */
const leaseIntervals = 2.5
/**
 * Minimum time between two checks for expired keys, so that a webhook is turned off within 5 s of its key's expiry.
 * Until then, it gets no hints.
 */
const keyCheckMilliseconds = 3000
/**
 * Overlap of successive checks for expired keys. Each process's clock may be up to a minute off, so the clocks of two
 * leaders may differ by two minutes.
 */
const keyOverlapMilliseconds = 120_000
/** Maximum wait for attempts in progress when the process stops, even if receivers take longer. */
const stopMilliseconds = 5000

/**
 * Sends hints to the partners' webhooks. A lease limits this to one process, because two processes would send the same
 * hint twice and several hints about one booking concurrently (decisions §21). Only hosts whose feeds have moved or
 * whose hints are due are checked, so all other webhooks cost nothing. A process that takes over checks every host
 * once, because due times are stored only with the hints.
 */
export class WebhookWorker {
  private readonly lease: RenewedLease
  private readonly sender: HintSender
  /** Expiry time up to which this process has turned off the webhooks of expired keys. */
  private keysCheckedAt = new Date(0)
  private keysCheckBegunAt = Number.NEGATIVE_INFINITY
  private checking: Promise<void> | undefined
  private following: { end(): void } | undefined
  private timer: ReturnType<typeof setInterval> | undefined
  private runningCheck: Promise<void> | undefined
  /** True once this process knows of a webhook. Until then, it takes no lease and does not watch for changes. */
  private isNeeded = false
  private intervals = 0
  private isStopped = false

  constructor(private readonly app: SenderContext & Pick<AppContext, 'changes' | 'clockWatch'>) {
    this.lease = new RenewedLease(app, 'webhooks', leaseIntervals * intervalMilliseconds)
    const mayWork = () => !this.isStopped && this.lease.isHeld() && app.clockWatch.isSound()
    this.sender = new HintSender(app, mayWork)
  }

  start(): void {
    this.timer = setInterval(() => {
      this.intervals += 1
      if (this.isNeeded || this.intervals % intervalsPerSearch === 0) this.startCheck()
    }, intervalMilliseconds)
    this.timer.unref()
    this.startCheck()
  }

  /** Renews the lease and checks for due hints now, even if this process knows of no webhook yet. */
  wake(): void {
    this.isNeeded = true
    this.startCheck()
  }

  private startCheck(): void {
    // A request may wake the worker, but the worker's check does not belong to the request's trace.
    this.runningCheck ??= withTrace(undefined, () => this.runCheck())
      .catch((error) => this.app.log.warn({ error: String(error) }, 'Cannot check for hints'))
      .finally(() => {
        this.runningCheck = undefined
      })
  }

  /** Waits up to 5 s for the attempts in progress and leaves the rest to the next leader. */
  async stop(): Promise<void> {
    this.isStopped = true
    // The lease is renewed until the last attempt has ended, so that no other process sends hints before that.
    await withTimeoutOrNull(this.handOver(), stopMilliseconds)
    clearInterval(this.timer)
    await this.runningCheck
  }

  private async runCheck(): Promise<void> {
    const { db, clockWatch } = this.app
    const wasHolder = this.lease.isHeld()
    if (!wasHolder && (this.isStopped || !clockWatch.isSound())) return
    this.isNeeded ||= await hasWebhooks(db)
    if (!this.isNeeded) return
    if (!(await this.lease.renew())) {
      this.unfollow()
      return
    }
    if (this.isStopped) return
    // A wrong clock would date signatures wrongly and mistime attempts, so another process must take over.
    if (!clockWatch.isSound()) {
      this.handOver().catch((error) =>
        this.app.log.warn({ error: String(error) }, 'Cannot hand over the sending of hints'),
      )
      return
    }
    if (!wasHolder) {
      this.unfollow()
      this.following = this.app.changes.follow((ownerId) => this.sender.lookAt(ownerId))
      this.sender.lookAt('any')
    }
    if (performance.now() - this.keysCheckBegunAt >= keyCheckMilliseconds) this.checkKeys()
    // A moved clock makes planned checks due. All other work refreshes the clocks of its own hosts.
    if (this.sender.hasPlannedLooks()) await this.app.refreshClocks?.()
    this.sender.resume()
  }

  /** Turns off expired keys' webhooks in the background, because a busy host must not delay the lease's renewal. */
  private checkKeys(): void {
    this.keysCheckBegunAt = performance.now()
    const next = new Date(this.app.clock().getTime() - keyOverlapMilliseconds)
    this.checking ??= turnOffExpired(this.app, this.keysCheckedAt)
      .then(() => {
        this.keysCheckedAt = next
      })
      .catch((error) =>
        this.app.log.warn({ error: String(error) }, 'Cannot turn off webhooks of expired keys'),
      )
      .finally(() => {
        this.checking = undefined
      })
  }

  private unfollow(): void {
    this.following?.end()
    this.following = undefined
  }

  private async handOver(): Promise<void> {
    this.unfollow()
    await this.sender.drain()
    await this.runningCheck
    await this.lease.release()
  }
}

import { withTrace } from '../../core/trace.ts'
import type { AppContext } from '../../http/context.ts'
import { holdLease, releaseLease } from '../../platform/mongo/lease.ts'
import { withTimeoutOrNull } from '../../platform/time-limits.ts'
import { HintSender, type SenderContext } from './sender.ts'
import { hasWebhooks } from './store.ts'
import { turnOffExpired } from './switch.ts'

/** Interval at which the lease is renewed and due hints are sent. */
const lookEveryMilliseconds = 1000
/** Number of intervals between two searches while no endpoint is known; another process may register the first. */
const looksPerSearch = 5
/**
 * Duration of the lease, as a multiple of the renewal interval. If the holder dies, another process takes over
 * after this time.
 */
const leaseLooks = 2.5
/**
 * Minimum time between two checks for expired keys. It is short enough for an endpoint to be off within 5 s of its
 * key's expiry. Endpoints of an expired key get no hints in the meantime.
 */
const keyCheckMilliseconds = 3000
/**
 * Overlap of successive checks for expired keys. Each process's clock may differ from the database's by up to a minute,
 * so two processes' clocks may differ by two minutes.
 */
const keyOverlapMilliseconds = 120_000
/** Maximum wait for attempts in progress when the process stops, even if receivers take longer. */
const stopMilliseconds = 5000

/**
 * Sends hints to the partners' endpoints. A lease ensures that only one living process does so, because two processes
 * would send the same hint twice, and several hints about one booking concurrently (decisions §21). Hints are created
 * only for hosts whose feeds move, and only endpoints with due hints are served, so the other endpoints cause no work.
 * Due times are stored only with the hints, so a process that takes over checks all endpoints once.
 */
export class WebhookWorker {
  private readonly lease = { name: 'webhooks', owner: crypto.randomUUID() }
  private heldUntil = new Date(0)
  private readonly sender: HintSender
  /** Expiry time up to which this process has turned off the endpoints of expired keys. */
  private keysCheckedAt = new Date(0)
  private keysCheckBegunAt = Number.NEGATIVE_INFINITY
  private checking: Promise<void> | undefined
  private following: { end(): void } | undefined
  private timer: ReturnType<typeof setInterval> | undefined
  private looking: Promise<void> | undefined
  /** False until this process knows of an endpoint. Until then, the process needs no lease and follows no changes. */
  private isNeeded = false
  private looks = 0
  private isStopped = false

  constructor(
    private readonly app: SenderContext &
      Pick<AppContext, 'changes' | 'clockWatch'> & {
        /** Reloads the clocks that this process may not know yet. Absent on live data. */
        refreshClocks?: () => Promise<void>
      },
  ) {
    const mayWork = () => !this.isStopped && this.isHolder() && app.clockWatch.isSound()
    this.sender = new HintSender(app, mayWork)
  }

  start(): void {
    this.timer = setInterval(() => {
      this.looks += 1
      if (this.isNeeded || this.looks % looksPerSearch === 0) this.begin()
    }, lookEveryMilliseconds)
    this.timer.unref()
    this.begin()
  }

  /** Renews the lease and sends due hints now, even if this process has seen no endpoint yet. */
  wake(): void {
    this.isNeeded = true
    this.begin()
  }

  private begin(): void {
    // A request may wake the worker, but the worker's run does not belong to the request's trace.
    this.looking ??= withTrace(undefined, () => this.look())
      .catch((error) => this.app.log.warn({ error: String(error) }, 'Cannot look for webhooks'))
      .finally(() => {
        this.looking = undefined
      })
  }

  /** Waits up to 5 s for the attempts in progress, and leaves the rest to the next process. */
  async stop(): Promise<void> {
    this.isStopped = true
    // The lease is renewed until the last attempt has ended, so no other process sends hints in the meantime.
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
    this.isNeeded ||= await hasWebhooks(db)
    if (!this.isNeeded) return
    const now = clockWatch.databaseNow()
    const until = new Date(now.getTime() + leaseLooks * lookEveryMilliseconds)
    if (!(await holdLease(db, this.lease, now, until))) return this.unfollow()
    this.heldUntil = until
    if (this.isStopped) return
    // A wrong clock would give signatures wrong times and mistime attempts, so another process must take over.
    if (!clockWatch.isSound()) return void this.handOver()
    if (!wasHolder) {
      this.unfollow()
      this.following = this.app.changes.follow((hostId) => this.sender.notice(hostId))
      this.sender.notice('any')
    }
    if (performance.now() - this.keysCheckBegunAt >= keyCheckMilliseconds) this.checkKeys()
    // Sandbox clocks matter only if a check is planned for a later time.
    if (this.sender.isWaiting()) await this.app.refreshClocks?.()
    this.sender.resume()
  }

  /**
   * Turns off expired keys' endpoints. The caller does not wait, because a host's busy clock must not delay the lease's
   * renewal.
   */
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
    await this.sender.ended()
    await this.looking
    this.heldUntil = new Date(0)
    await releaseLease(this.app.db, this.lease)
  }
}

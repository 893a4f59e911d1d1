import type { AppContext } from '../../../http/context.ts'
import { LeasedRounds } from '../../../platform/mongo/turns/leased-rounds.ts'
import { isAnyShown } from '../../../platform/mongo/turns/work-watch.ts'
import { anyWebhook } from '../store.ts'
import { turnOffExpired } from '../turn-off.ts'
import { HintSender, type SenderContext } from './sender.ts'

/** Interval at which the lease is renewed and hosts with due hints are checked. */
const intervalMilliseconds = 1000
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

/**
 * Sends hints to the partners' webhooks, in one process at a time, because two processes would send the same hint twice
 * and several hints about one booking concurrently (decisions §21). Only hosts whose feeds have moved or whose hints are
 * due are checked, so all other webhooks cost nothing. A process that takes over checks every host once, because due
 * times are stored only with the hints.
 */
export class WebhookWorker {
  private readonly rounds: LeasedRounds
  private readonly sender: HintSender
  /** Expiry time up to which this process has turned off the webhooks of expired keys. */
  private keysCheckedAt = new Date(0)
  private keysCheckBegunAt = Number.NEGATIVE_INFINITY
  private checking: Promise<void> | undefined
  private following: { end(): void } | undefined
  /**
   * True once this process knows of a webhook, until it ends. Until it knows of one, it takes no lease and does not watch
   * for changes.
   */
  private isNeeded = false

  constructor(
    private readonly app: SenderContext & Pick<AppContext, 'changes' | 'clockWatch' | 'workWatch'>,
  ) {
    this.sender = new HintSender(app, () => this.rounds.mayWork())
    this.rounds = new LeasedRounds(app, {
      name: 'webhooks',
      intervalMilliseconds,
      leaseMilliseconds: leaseIntervals * intervalMilliseconds,
      // Another process may add the first webhook.
      shownBy: [anyWebhook],
      failureMessage: 'Cannot check for hints',
      isNeeded: () => this.searchWebhooks(),
      onTaken: () => this.follow(),
      onLost: () => this.unfollow(),
      runRound: () => this.check(),
      drain: () => this.sender.drain(),
    })
  }

  start(): void {
    this.rounds.start()
    this.rounds.wake()
  }

  /** Renews the lease and checks for due hints now, even if this process knows of no webhook yet. */
  wake(): void {
    this.isNeeded = true
    this.rounds.wake()
  }

  /** Waits up to 5 s for the attempts in progress, even if receivers take longer, and leaves the rest to the next leader. */
  stop(): Promise<void> {
    return this.rounds.stop()
  }

  private async searchWebhooks(): Promise<boolean> {
    if (this.isNeeded) return true
    // This may be woken during the search.
    if (await isAnyShown(this.app.db, [anyWebhook])) this.isNeeded = true
    return this.isNeeded
  }

  private async check(): Promise<boolean> {
    if (performance.now() - this.keysCheckBegunAt >= keyCheckMilliseconds) this.checkKeys()
    // A moved clock makes planned looks due. All other work refreshes the clocks of its own hosts.
    if (this.sender.hasPlannedLooks()) await this.app.refreshClocks?.()
    this.sender.resume()
    return true
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

  private follow(): void {
    this.unfollow()
    this.following = this.app.changes.follow((ownerId) => this.sender.lookAt(ownerId))
    this.sender.lookAt('any')
  }

  private unfollow(): void {
    this.following?.end()
    this.following = undefined
  }
}

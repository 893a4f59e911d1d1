import { collectHints } from './collect.ts'
import type { EndpointContext } from './endpoint.ts'
import { findHostsBehind, findOfHosts } from './hints-store.ts'
import type { Webhook } from './model.ts'

/** Changes that come together are hinted together. */
const paceMilliseconds = 200
/** Where too many hints wait, when some of them may have been sent. */
const laterMilliseconds = 5000
/** Hosts that are collected at once. */
const maxHosts = 100

/**
 * Makes hints of what has moved, host by host. One round after another, but none waits for a host of an earlier one: the
 * transaction of a process that died may hold it for seconds.
 */
export class HintCollector {
  private readonly moved = new Set<number>()
  private mayBeBehind = false
  private readonly collecting = new Map<number, Promise<void>>()
  private running: Promise<void> | undefined

  /**
   * @param mayWork false as soon as another process does this
   * @param onHints told of each endpoint for which there are new hints
   */
  constructor(
    private readonly app: EndpointContext,
    private readonly mayWork: () => boolean,
    private readonly onHints: (webhook: Webhook) => void,
  ) {}

  /** A host has moved; `any` where one may have moved unheard. */
  notice(hostId: number | 'any'): void {
    if (hostId === 'any') this.mayBeBehind = true
    else this.moved.add(hostId)
    this.resume()
  }

  /** Goes on with what was noticed and is left: `mayWork` may have been false for a moment, when a lease came late. */
  resume(): void {
    this.running ??= this.run().finally(() => {
      this.running = undefined
    })
  }

  /** Resolves when nothing is being collected; call it when no more may begin. */
  async ended(): Promise<void> {
    await Promise.all([this.running, ...this.collecting.values()])
  }

  private async run(): Promise<void> {
    while (this.mayWork() && (this.mayBeBehind || this.moved.size > 0)) {
      const pace = Bun.sleep(paceMilliseconds)
      await this.collectMoved().catch((error) => {
        // Which hosts it had begun with is not known.
        this.mayBeBehind = true
        return this.pauseAfter(error)
      })
      await pace
    }
  }

  private pauseAfter(error: unknown): Promise<void> {
    this.app.log.warn({ error: String(error) }, 'Cannot collect hints')
    return Bun.sleep(1000)
  }

  private async collectMoved(): Promise<void> {
    const { db } = this.app
    if (this.mayBeBehind) {
      this.mayBeBehind = false
      for (const hostId of await findHostsBehind(db)) this.moved.add(hostId)
    }
    const free = [...this.moved].filter((hostId) => !this.collecting.has(hostId))
    const hosts = free.slice(0, maxHosts - this.collecting.size)
    if (hosts.length === 0) return
    // Before anything is read: what moves meanwhile is noticed again.
    for (const hostId of hosts) this.moved.delete(hostId)
    const webhooks = Map.groupBy(await findOfHosts(db, hosts), ({ host_id }) => host_id)
    for (const [hostId, ofHost] of webhooks) this.collecting.set(hostId, this.collect(hostId, ofHost))
  }

  private async collect(hostId: number, webhooks: Webhook[]): Promise<void> {
    try {
      const { hinted, more } = await collectHints(this.app, hostId, webhooks)
      for (const webhook of hinted) this.onHints(webhook)
      if (more === 'now') this.notice(hostId)
      if (more === 'later') setTimeout(() => this.notice(hostId), laterMilliseconds).unref()
    } catch (error) {
      await this.pauseAfter(error)
      this.notice(hostId)
    } finally {
      this.collecting.delete(hostId)
    }
  }
}

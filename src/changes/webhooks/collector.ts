import { collectHints } from './collect.ts'
import type { EndpointContext } from './endpoint.ts'
import { findHostsBehind, findOfHosts } from './hints-store.ts'
import type { Webhook } from './model.ts'

/** Minimum interval between rounds, so that changes made close together are hinted together. */
const paceMilliseconds = 200
/** Delay before a host with too many waiting hints is collected again. */
const laterMilliseconds = 5000
/** Maximum number of hosts collected concurrently. */
const maxHosts = 100

/**
 * Makes hints for hosts whose feeds have moved, host by host. Rounds start one after the other, but no round waits for
 * a host from an earlier round, because a dead process's transaction may block that host for seconds.
 */
export class HintCollector {
  private readonly moved = new Set<number>()
  private mayBeBehind = false
  private readonly collecting = new Map<number, Promise<void>>()
  private running: Promise<void> | undefined

  /**
   * @param mayWork returns false once this process may no longer collect hints
   * @param onHints called with each endpoint that got new hints
   */
  constructor(
    private readonly app: EndpointContext,
    private readonly mayWork: () => boolean,
    private readonly onHints: (webhook: Webhook) => void,
  ) {}

  /** Notes that a host's feeds have moved; `any` means that a change event may have been missed for some host. */
  notice(hostId: number | 'any'): void {
    if (hostId === 'any') this.mayBeBehind = true
    else this.moved.add(hostId)
    this.resume()
  }

  /** Continues with the remaining hosts, in case a late lease renewal made `mayWork` false for a while. */
  resume(): void {
    this.running ??= this.run().finally(() => {
      this.running = undefined
    })
  }

  /** Resolves once no host is being collected. Call it only after `mayWork` has become false. */
  async ended(): Promise<void> {
    await Promise.all([this.running, ...this.collecting.values()])
  }

  private async run(): Promise<void> {
    while (this.mayWork() && (this.mayBeBehind || this.moved.size > 0)) {
      const pace = Bun.sleep(paceMilliseconds)
      await this.collectMoved().catch((error) => {
        // It is unknown which hosts the failed round had already taken.
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
    // Removed before anything is read, so that a host that moves meanwhile is noticed again.
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

import type { Db } from '../platform/mongo/connection.ts'
import { withTimeoutOrNull } from '../platform/timeout.ts'
import { Lane, type LaneContext } from './lane.ts'
import { claimLane, type FreeWebhook, findFree, findHeld, releaseLane, renewLanes } from './lanes-store.ts'
import { mayHint } from './permission.ts'
import type { WebhookId } from './store.ts'

/** How often a process looks for endpoints that nobody holds; a sandbox may wait longer. */
const lookEveryMilliseconds = { live: 400, sandbox: 1600 }
/** A process that died loses its endpoints after so many looks. */
const leaseLooks = 4
/** A receiver may take its time, a process that ends may not. */
const stopMilliseconds = 5000
/** Endpoints that one process sends the hints of. */
const mostLanes = 1000

/**
 * The endpoints that this process sends the hints of: each is held by one living process, by a lease, so that its hints
 * are made and tried in one place.
 */
export class WebhookLanes {
  private readonly owner = crypto.randomUUID()
  private readonly lanes = new Map<string, Lane>()
  private isStopped = false
  private readonly claiming = new Set<string>()
  private timer: ReturnType<typeof setInterval> | undefined
  private looking: Promise<void> | undefined

  private readonly pause: number
  private readonly app: LaneContext

  /** @param liveDb where the keys are, also those of sandboxes */
  constructor(app: Omit<LaneContext, 'mayHint'>, liveDb: Db) {
    this.app = { ...app, mayHint: mayHint(liveDb, app.clock, app.environment.name === 'sandbox') }
    this.pause = lookEveryMilliseconds[app.environment.name]
  }

  start(): void {
    this.timer = setInterval(() => this.wake(), this.pause)
    this.timer.unref()
  }

  /** Looks now for endpoints that nobody holds, and for those where somebody wants something. */
  wake(): void {
    this.looking ??= this.look()
      .catch((error) => this.app.log.warn({ error: String(error) }, 'Cannot look for webhooks'))
      .finally(() => {
        this.looking = undefined
      })
  }

  /** Finishes the tries in progress, for a while, and leaves the endpoints to others. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    this.isStopped = true
    await this.looking
    const stopped = Promise.all([...this.lanes.values()].map((lane) => lane.stop()))
    // What is not finished by then is tried again by another process.
    await withTimeoutOrNull(stopped, stopMilliseconds)
  }

  private async look(): Promise<void> {
    const { db, clock } = this.app
    const until = new Date(clock().getTime() + leaseLooks * this.pause)
    if (this.lanes.size > 0) {
      await renewLanes(db, this.owner, until)
      await this.wakeNudged()
    }
    const room = mostLanes - this.lanes.size
    if (room <= 0) return
    for (const webhook of await findFree(db, clock(), room)) this.claim(webhook, until)
  }

  /** Nothing waits for it: the transaction of a process that died may hold an endpoint for seconds. */
  private async claim(webhook: FreeWebhook, until: Date): Promise<void> {
    const name = nameOf(webhook)
    if (this.lanes.has(name) || this.claiming.has(name)) return
    this.claiming.add(name)
    const isClaimed = await claimLane(this.app.db, this.owner, webhook, until).catch(() => false)
    this.claiming.delete(name)
    if (isClaimed && this.isStopped) await releaseLane(this.app.db, this.owner, webhook).catch(() => {})
    else if (isClaimed) this.open(webhook)
  }

  /** Lanes whose endpoint was changed, here or by another process, or is gone, look at it. */
  private async wakeNudged(): Promise<void> {
    const held = await findHeld(this.app.db, this.owner)
    const nudges = new Map(held.map((webhook) => [nameOf(webhook), webhook.nudged_at.getTime()]))
    for (const [name, lane] of this.lanes) lane.nudge(nudges.get(name) ?? null)
  }

  private open({ host_id, id }: WebhookId): void {
    const webhook = { host_id, id }
    const name = nameOf(webhook)
    const lane = new Lane(this.app, this.owner, webhook)
    this.lanes.set(name, lane)
    lane.ended.finally(async () => {
      this.lanes.delete(name)
      await releaseLane(this.app.db, this.owner, webhook).catch(() => {})
    })
  }
}

function nameOf({ host_id, id }: WebhookId): string {
  return `${host_id}/${id}`
}

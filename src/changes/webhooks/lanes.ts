import type { AppContext } from '../../http/context.ts'
import { withTimeoutOrNull } from '../../platform/timeout.ts'
import { turnOffEnded } from './key-end.ts'
import { Lane, type LaneContext } from './lane.ts'
import {
  claimLane,
  type FoundWebhook,
  findDue,
  findHeld,
  findHostsBehind,
  findOfHosts,
  releaseLane,
  renewLanes,
} from './lanes-store.ts'
import type { WebhookId } from './store.ts'

/** How often a process looks for endpoints at which something is due; a sandbox may wait longer. */
const lookEveryMilliseconds = { live: 400, sandbox: 1600 }
/** A process that died loses its endpoints after so many looks. */
const leaseLooks = 4
/** A receiver may take its time, a process that ends may not. */
const stopMilliseconds = 5000
/** Endpoints that one process sends the hints of at once; the others wait for the first that has no more to send. */
const maxLanes = 1000
/** Hosts looked at in one query. */
const hostsPerLook = 200

/**
 * The endpoints that this process sends the hints of now. That something of a host has moved is told by the stream on the
 * hosts' clocks, and only then are its endpoints looked at, so that idle ones cost nothing. Each is held by one living
 * process, by a lease: otherwise two would send the same hint, and more than one of a booking at once (decisions §21).
 */
export class WebhookLanes {
  private readonly owner = crypto.randomUUID()
  private readonly lanes = new Map<string, Lane>()
  private readonly claiming = new Set<string>()
  /** Hosts whose endpoints are to be looked at, and from when on. */
  private readonly moved = new Map<number, number>()
  private mayBeBehind = false
  private isStopped = false
  private timer: ReturnType<typeof setInterval> | undefined
  private following: { end(): void } | undefined
  private looking: Promise<void> | undefined
  private readonly pause: number

  constructor(private readonly app: LaneContext & Pick<AppContext, 'clockWatch'>) {
    this.pause = lookEveryMilliseconds[app.environment.name]
  }

  start(): void {
    this.following = this.app.changes.follow((hostId) => {
      if (hostId === 'any') this.mayBeBehind = true
      else this.moved.set(hostId, 0)
      this.wake()
    })
    this.timer = setInterval(() => this.wake(), this.pause)
    this.timer.unref()
  }

  /** Looks now for endpoints at which there is something to do. */
  wake(): void {
    this.looking ??= this.look()
      .catch((error) => this.app.log.warn({ error: String(error) }, 'Cannot look for webhooks'))
      .finally(() => {
        this.looking = undefined
      })
  }

  /** Finishes the tries in progress, for a while, and leaves the endpoints to others. */
  async stop(): Promise<void> {
    this.isStopped = true
    this.following?.end()
    // Their leases are renewed until the last try has ended: nobody else sends to them meanwhile.
    await withTimeoutOrNull(Promise.all([this.endLanes(), this.looking]), stopMilliseconds)
    clearInterval(this.timer)
  }

  private async endLanes(): Promise<void> {
    await Promise.all([...this.lanes.values()].map((lane) => lane.stop()))
  }

  private async look(): Promise<void> {
    const { db, clock, clockWatch } = this.app
    const leaseNow = clockWatch.databaseNow()
    const until = new Date(leaseNow.getTime() + leaseLooks * this.pause)
    if (this.lanes.size > 0) {
      await renewLanes(db, this.owner, until)
      await this.wakeNudged()
    }
    if (this.isStopped) return
    // It would sign wrong times, and try too early or too late: another process does it.
    if (!clockWatch.isSound()) return void this.endLanes()
    await turnOffEnded(this.app)
    await this.lookForMoved()
    const claim = (webhook: FoundWebhook) => this.claim(webhook, until)
    for (const webhook of await this.findMoved(leaseNow)) claim(webhook)
    const room = maxLanes - this.lanes.size
    if (room > 0) for (const webhook of await findDue(db, clock(), leaseNow, room)) claim(webhook)
  }

  /** After the start and whenever the stream broke, what has moved unheard is found by looking. */
  private async lookForMoved(): Promise<void> {
    if (!this.mayBeBehind) return
    this.mayBeBehind = false
    for (const hostId of await findHostsBehind(this.app.db)) this.moved.set(hostId, 0)
  }

  /** The endpoints of hosts that have moved that are free; those that another process holds are looked at once its lease is over. */
  private async findMoved(leaseNow: Date): Promise<FoundWebhook[]> {
    if (this.lanes.size >= maxLanes) return []
    const now = leaseNow.getTime()
    const hosts = [...this.moved].filter(([, from]) => from <= now).map(([hostId]) => hostId)
    const looked = hosts.slice(0, hostsPerLook)
    if (looked.length === 0) return []
    for (const hostId of looked) this.moved.delete(hostId)
    const free: FoundWebhook[] = []
    for (const webhook of await findOfHosts(this.app.db, looked)) {
      const { host_id, lane_owner, lane_until } = webhook
      if (lane_until.getTime() <= now) free.push(webhook)
      else if (lane_owner !== this.owner) this.moved.set(host_id, lane_until.getTime() + 1)
      // Its lane may be about to end.
      else if (!this.lanes.get(nameOf(webhook))?.isOpen) this.moved.set(host_id, now + this.pause)
    }
    return free
  }

  /** Nothing waits for it: the transaction of a process that died may hold an endpoint for seconds. */
  private async claim(webhook: FoundWebhook, until: Date): Promise<void> {
    const { db, clock } = this.app
    const name = nameOf(webhook)
    if (this.lanes.has(name) || this.claiming.has(name)) return
    this.claiming.add(name)
    const isClaimed = await claimLane(db, this.owner, webhook, until, clock()).catch(() => false)
    this.claiming.delete(name)
    if (!isClaimed) return
    if (this.isStopped) await releaseLane(db, this.owner, webhook, clock(), clock()).catch(() => {})
    else this.open(webhook)
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
    lane.ended.then(async ({ nudgedAt, dueAt }) => {
      await releaseLane(this.app.db, this.owner, webhook, nudgedAt, dueAt).catch(() => {})
      this.lanes.delete(name)
      this.wake()
    })
  }
}

function nameOf({ host_id, id }: WebhookId): string {
  return `${host_id}/${id}`
}

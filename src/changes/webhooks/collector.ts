import type { AppContext } from '../../http/context.ts'
import { inTransaction } from '../../platform/mongo/transactions.ts'
import { type BookingChange, findChanges } from '../../stays/bookings/store.ts'
import type { StoredMessage } from '../../stays/messages/model.ts'
import { findNewMessages } from '../../stays/messages/store.ts'
import { findClocks } from '../../versions/change-store.ts'
import { toVersion } from '../../versions/format.ts'
import type { HostClock } from '../../versions/model.ts'
import { failingUntil } from './attempt.ts'
import { addHints, countWaiting } from './deliveries-store.ts'
import { type Hint, hintOf, type WebhookEvent } from './hint.ts'
import type { Webhook } from './model.ts'
import {
  findHostsWithWebhooks,
  findWebhooksOn,
  movePositions,
  type Positions,
  type WebhookId,
} from './store.ts'

/** Minimum interval between rounds, so that changes made close together are hinted together. */
const paceMilliseconds = 200
/** Maximum number of hosts that one round reads. */
const hostsPerRound = 1000
/** Maximum number of hosts whose hints are made concurrently. */
const maxHosts = 100
/** Maximum number of changes per feed that become hints in one transaction. */
const batchSize = 100
/** Maximum number of waiting hints per endpoint; further changes wait in the feeds. */
const maxWaiting = 10_000
/** Delay before a host with too many waiting hints is read again. */
const laterMilliseconds = 5000

/**
 * Makes hints for hosts whose feeds have moved, and tells the sender when each of their endpoints is due. Rounds start
 * one after the other, but no round waits for a host from an earlier round, because a dead process's transaction may
 * block that host for seconds.
 */
export class HintCollector {
  private readonly moved = new Set<number>()
  private mayHaveMissed = false
  private readonly collecting = new Map<number, Promise<void>>()
  private running: Promise<void> | undefined

  /**
   * @param mayWork returns false once this process may no longer make hints
   * @param plan called with an endpoint and the time at which it is due, by its host's clock
   */
  constructor(
    private readonly app: Pick<AppContext, 'db' | 'clock' | 'log'>,
    private readonly mayWork: () => boolean,
    private readonly plan: (webhook: WebhookId, at: Date) => void,
  ) {}

  /** Notes that a host's clock has moved; `any` means that a change event may have been missed for some host. */
  notice(hostId: number | 'any'): void {
    if (hostId === 'any') this.mayHaveMissed = true
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
    while (this.mayWork() && (this.mayHaveMissed || this.moved.size > 0)) {
      const pace = Bun.sleep(paceMilliseconds)
      await this.round().catch((error) => {
        // It is unknown which hosts the failed round had already taken.
        this.mayHaveMissed = true
        return this.pauseAfter(error)
      })
      await pace
    }
  }

  private pauseAfter(error: unknown): Promise<void> {
    this.app.log.warn({ error: String(error) }, 'Cannot collect hints')
    return Bun.sleep(1000)
  }

  /** Plans the endpoints of the hosts that have moved, and begins to make hints for those that are behind. */
  private async round(): Promise<void> {
    const { db } = this.app
    if (this.mayHaveMissed) {
      this.mayHaveMissed = false
      for (const hostId of await findHostsWithWebhooks(db)) this.moved.add(hostId)
    }
    const moved = [...this.moved].filter((hostId) => !this.collecting.has(hostId)).slice(0, hostsPerRound)
    if (moved.length === 0) return
    // Removed before anything is read, so that a host that moves meanwhile is noticed again.
    for (const hostId of moved) this.moved.delete(hostId)
    const webhooks = await findWebhooksOn(db, { hosts: moved })
    const hosts = [...new Set(webhooks.map(({ host_id }) => host_id))]
    const [clocks, waiting] = await Promise.all([findClocks(db, hosts), countWaiting(db, hosts)])
    for (const { _id, next } of waiting) this.plan(_id, next)
    for (const webhook of webhooks)
      if (webhook.failing_since) this.plan(webhook, failingUntil(webhook.failing_since))
    const clockOf = new Map(clocks.map((clock) => [clock._id, clock]))
    const behind = webhooks.filter((webhook) => isBehind(webhook, clockOf.get(webhook.host_id)))
    const full = new Set(waiting.filter(({ count }) => count >= maxWaiting).map(({ _id }) => _id.id))
    for (const [hostId, ofHost] of Map.groupBy(behind, ({ host_id }) => host_id)) {
      const open = ofHost.filter(({ id }) => !full.has(id))
      if (open.length < ofHost.length) setTimeout(() => this.notice(hostId), laterMilliseconds).unref()
      if (open.length === 0) continue
      if (this.collecting.size < maxHosts) this.collecting.set(hostId, this.collect(hostId, open))
      else this.moved.add(hostId)
    }
  }

  /**
   * Makes hints from the new rows in a host's feeds, for all its endpoints that are behind. Changes that the feeds do
   * not show yet are not hinted, and no change is missed, because each endpoint's position is stored in the same
   * transaction. A booking that has changed several times in the meantime gets one hint.
   */
  private async collect(host_id: number, webhooks: Webhook[]): Promise<void> {
    const { db, clock } = this.app
    try {
      const page = { skip: 0, limit: batchSize }
      const [bookingsAfter, messagesAfter] = [
        earliest(webhooks, 'booking.changed', 'bookings_seen'),
        earliest(webhooks, 'message.created', 'messages_seen'),
      ]
      const [changes, messages] = await Promise.all([
        bookingsAfter ? findChanges(db, { host_id }, bookingsAfter, page) : [],
        messagesAfter ? findNewMessages(db, { host_id }, messagesAfter, page) : [],
      ])
      const news = webhooks
        .map((webhook) => newsOf(webhook, changes, messages))
        .filter(({ hints }) => hints.length > 0)
      if (news.length > 0)
        await inTransaction(db, `webhooks/${host_id}`, async (session) => {
          await movePositions(db, session, news)
          await addHints(db, session, host_id, news, clock(host_id))
        })
      for (const { webhook } of news) this.plan(webhook, clock(host_id))
      if (changes.length === batchSize || messages.length === batchSize) this.notice(host_id)
    } catch (error) {
      await this.pauseAfter(error)
      this.notice(host_id)
    } finally {
      this.collecting.delete(host_id)
    }
  }
}

/** Returns true if a feed has moved past the position up to which the endpoint's hints were made. */
function isBehind({ events, bookings_seen, messages_seen }: Webhook, clock?: HostClock): boolean {
  const { last = 0, messages_last = 0 } = clock ?? {}
  return (
    (events.includes('booking.changed') && last * 1000 > bookings_seen.getTime()) ||
    (events.includes('message.created') && messages_last * 1000 > messages_seen.getTime())
  )
}

/** Returns the earliest position among the endpoints that get hints for an event; null if none does. */
function earliest(webhooks: Webhook[], event: WebhookEvent, position: keyof Positions): Date | null {
  const seen = webhooks.filter(({ events }) => events.includes(event)).map((webhook) => webhook[position])
  return seen.length === 0 ? null : new Date(Math.min(...seen.map((version) => version.getTime())))
}

/** New hints for one endpoint, and the positions up to which they are complete. */
interface News {
  webhook: Webhook
  hints: Hint[]
  seen: Positions
}

function newsOf(webhook: Webhook, changes: BookingChange[], messages: StoredMessage[]): News {
  const { events, bookings_seen, messages_seen } = webhook
  const newChanges = events.includes('booking.changed')
    ? changes.filter(({ updated_at }) => updated_at > bookings_seen)
    : []
  const newMessages = events.includes('message.created')
    ? messages.filter(({ version }) => version > messages_seen)
    : []
  return {
    webhook,
    hints: [
      ...newChanges.map(({ id: booking_id, listing_id, updated_at }) =>
        hintOf('booking.changed', { booking_id, listing_id, version: toVersion(updated_at) }),
      ),
      ...newMessages.map(({ id: message_id, booking_id, listing_id, version }) =>
        hintOf('message.created', { booking_id, listing_id, version: toVersion(version), message_id }),
      ),
    ],
    seen: {
      bookings_seen: newChanges.at(-1)?.updated_at ?? bookings_seen,
      messages_seen: newMessages.at(-1)?.version ?? messages_seen,
    },
  }
}

import type { AppContext } from '../../http/context.ts'
import { inTransaction } from '../../platform/mongo/transactions.ts'
import { type BookingChange, findChanges } from '../../stays/bookings/store.ts'
import type { StoredMessage } from '../../stays/messages/model.ts'
import { findNewMessages } from '../../stays/messages/store.ts'
import { toVersion } from '../../versions/format.ts'
import { type Hint, hintOf, type WebhookEvent } from './hint.ts'
import { addHints, isBackedUp, type News } from './hints-store.ts'
import type { Webhook } from './model.ts'

/** Maximum number of changes per feed that become hints in one transaction. */
const batchSize = 100

/** The result of collecting. */
export interface Collected {
  /** The endpoints that got new hints. */
  hinted: Webhook[]
  /** When to collect again: now, later because too many hints are waiting, or null if nothing is left. */
  more: 'now' | 'later' | null
}

/**
 * Makes hints from the new rows in a host's feeds, for all its endpoints. Changes that the feeds do not show yet are
 * not hinted, and no change is missed, because each endpoint's position is stored. A booking that has changed several
 * times in the meantime gets one hint.
 *
 * @param webhooks the host's endpoints that are on
 */
export async function collectHints(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  host_id: number,
  webhooks: Webhook[],
): Promise<Collected> {
  // An endpoint without a due time has no waiting hints to count.
  const backedUp = await Promise.all(webhooks.map(async (one) => one.due_at !== null && isBackedUp(db, one)))
  const open = webhooks.filter((_, index) => !backedUp[index])
  const [changes, messages] = await Promise.all([
    readSince(open, 'booking.changed', 'bookings_seen', (after, page) =>
      findChanges(db, { host_id }, after, page),
    ),
    readSince(open, 'message.created', 'messages_seen', (after, page) =>
      findNewMessages(db, { host_id }, after, page),
    ),
  ])
  const news = open
    .map((webhook) => newsOf(webhook, changes, messages))
    .filter(({ hints }) => hints.length > 0)
  if (news.length > 0)
    await inTransaction(db, `webhooks/${host_id}`, (session) =>
      addHints(db, session, host_id, news, { due: clock(), dated: clock(host_id) }),
    )
  const isFull = changes.length === batchSize || messages.length === batchSize
  const more = isFull ? 'now' : open.length < webhooks.length ? 'later' : null
  return { hinted: news.map(({ webhook }) => webhook), more }
}

/** Reads the rows after the position of the endpoint that is furthest behind. */
async function readSince<T>(
  webhooks: Webhook[],
  event: WebhookEvent,
  position: 'bookings_seen' | 'messages_seen',
  read: (after: Date, page: { skip: number; limit: number }) => Promise<T[]>,
): Promise<T[]> {
  const seen = webhooks.filter(({ events }) => events.includes(event)).map((webhook) => webhook[position])
  if (seen.length === 0) return []
  const after = new Date(Math.min(...seen.map((version) => version.getTime())))
  return read(after, { skip: 0, limit: batchSize })
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
    hints: [...newChanges.map(hintOfChange), ...newMessages.map(hintOfMessage)],
    seen: {
      bookings_seen: newChanges.at(-1)?.updated_at ?? bookings_seen,
      messages_seen: newMessages.at(-1)?.version ?? messages_seen,
    },
  }
}

function hintOfChange({ id: booking_id, listing_id, updated_at }: BookingChange): Hint {
  return hintOf('booking.changed', { booking_id, listing_id, version: toVersion(updated_at) })
}

function hintOfMessage({ id: message_id, booking_id, listing_id, version }: StoredMessage): Hint {
  return hintOf('message.created', { booking_id, listing_id, version: toVersion(version), message_id })
}

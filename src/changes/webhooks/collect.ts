import type { AppContext } from '../../http/context.ts'
import { inTransaction } from '../../platform/mongo/transactions.ts'
import { type BookingChange, findChanges } from '../../stays/bookings/store.ts'
import type { StoredMessage } from '../../stays/messages/model.ts'
import { findNewMessages } from '../../stays/messages/store.ts'
import { toVersion } from '../../versions/format.ts'
import { type Hint, hintOf } from './hint.ts'
import { type AtOnce, addHints } from './hints-store.ts'
import type { Webhook, WebhookDelivery } from './model.ts'
import { webhookQueue } from './switch.ts'

/** Changes that become hints in one transaction. */
const batchSize = 100

/** The result of collecting. */
export interface Collected {
  /** The deliveries whose first try has begun. */
  begun: WebhookDelivery[]
  /** True where others were made, which wait. */
  hasOthers: boolean
  /** True where there may be more changes. */
  hasMore: boolean
}

/**
 * Makes hints of what is new in the feeds of an endpoint's host: what is not visible there yet is not hinted, and nothing
 * is missed, because the position is kept. A booking that has changed several times meanwhile has one hint.
 */
export async function collectHints(
  { db, clock }: Pick<AppContext, 'db' | 'clock'>,
  webhook: Webhook,
  atOnce: AtOnce,
): Promise<Collected> {
  const { host_id, events, bookings_seen, messages_seen } = webhook
  const page = { skip: 0, limit: batchSize }
  const [changes, messages] = await Promise.all([
    events.includes('booking.changed') ? findChanges(db, { host_id }, bookings_seen, page) : [],
    events.includes('message.created') ? findNewMessages(db, { host_id }, messages_seen, page) : [],
  ])
  const hints = [...changes.map(hintOfChange), ...messages.map(hintOfMessage)]
  if (hints.length === 0) return { begun: [], hasOthers: false, hasMore: false }
  const seen = {
    bookings_seen: changes.at(-1)?.updated_at ?? bookings_seen,
    messages_seen: messages.at(-1)?.version ?? messages_seen,
  }
  const begun = await inTransaction(db, webhookQueue(webhook), (session) =>
    addHints(db, session, webhook, seen, hints, clock(), atOnce),
  )
  // Where the position had moved, it is read anew.
  if (begun === null) return { begun: [], hasOthers: true, hasMore: true }
  Object.assign(webhook, seen)
  const hasMore = changes.length === batchSize || messages.length === batchSize
  return { begun, hasOthers: begun.length < hints.length, hasMore }
}

function hintOfChange({ id: booking_id, listing_id, updated_at }: BookingChange): Hint {
  return hintOf('booking.changed', { booking_id, listing_id, version: toVersion(updated_at) })
}

function hintOfMessage({ id: message_id, booking_id, listing_id, version }: StoredMessage): Hint {
  return hintOf('message.created', { booking_id, listing_id, version: toVersion(version), message_id })
}

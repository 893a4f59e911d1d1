/**
 * The hints that the changes in the feeds lead to, and how far a webhook's hints have been created. What a feed is, is
 * said in `changes/feeds.ts`.
 */

import { toVersion } from '../../../host-clock/format.ts'
import type { Counter, HostClock } from '../../../host-clock/model.ts'
import type { Db } from '../../../platform/mongo/connection.ts'
import { bookingFeedInFull, type Feed, messageFeed } from '../../feeds.ts'
import { type Hint, type HintData, type HintEvent, hintOf } from '../hint.ts'
import type { Webhook } from '../model.ts'
import type { Positions } from '../store.ts'

/** A hint for a feed row. */
export interface NewHint {
  hint: Hint
  /** The `traceparent` of the change. */
  trace: string | null
  /** The webhook's positions once this hint and those before it are created. */
  seen: Positions
}

/** A feed row, with its version, as a hint. */
type HintRow = Pick<NewHint, 'hint' | 'trace'> & { version: Date }

/**
 * A feed whose changes hints announce: its event, the webhook field that stores the position, and its counter in the
 * host's clock.
 */
interface HintFeed {
  event: HintEvent
  position: keyof Positions
  counter: Counter
  read(db: Db, owner_id: number, after: Date, limit: number): Promise<HintRow[]>
}

/** Whole bookings are read, because the feed's own rows contain no trace. */
const hintFeeds = [
  hintFeed(bookingFeedInFull, 'bookings_seen', ({ id, listing_id }) => ({
    booking_id: id,
    listing_id,
  })),
  hintFeed(messageFeed, 'messages_seen', ({ id, booking_id, listing_id }) => ({
    booking_id,
    listing_id,
    message_id: id,
  })),
]

/** @param dataOf returns a hint's data for a row, except the row's version */
function hintFeed<Row extends { trace: string | null }>(
  { event, counter, find, versionOf }: Feed<Row>,
  position: keyof Positions,
  dataOf: (row: Row) => Omit<HintData, 'version'>,
): HintFeed {
  const toHint = (row: Row): HintRow => {
    const version = versionOf(row)
    const hint = hintOf(event, { ...dataOf(row), version: toVersion(version) })
    return { version, hint, trace: row.trace ?? null }
  }
  return {
    event,
    position,
    counter,
    async read(db, owner_id, after, limit) {
      return (await find(db, { owner_id }, after, { skip: 0, limit })).map(toHint)
    },
  }
}

/** Returns true if a feed's clock is past the webhook's position, so there may be rows without hints. */
export function isBehind(webhook: Webhook, clock: HostClock | undefined): boolean {
  return feedsOf(webhook).some(
    ({ position, counter }) => (clock?.[counter] ?? 0) * 1000 > webhook[position].getTime(),
  )
}

/** A webhook's next hints. */
export interface NewHints {
  /** Sorted by version. */
  hints: NewHint[]
  /** True if further hints may follow. */
  mayBeMore: boolean
  /** The webhook's new positions if its feeds have no new rows; null if they have, or were not read. */
  emptyUntil: Positions | null
}

/** Maximum number of rows read from each feed per look: twice the number of attempts that may be in progress. */
const rowsPerLook = 20

/** The pages that one look has read of a host's feeds. Webhooks with the same position share them. */
export type FeedPages = Map<string, Promise<HintRow[]>>

/**
 * Reads a webhook's next hints.
 *
 * @param seen `clock` is the host's clock, read before this
 */
export async function readNewHints(
  db: Db,
  { webhook, clock }: { webhook: Webhook; clock: HostClock | undefined },
  pages: FeedPages,
): Promise<NewHints> {
  const read = feedsOf(webhook).map(({ event, position, read }) => {
    const name = `${event}/${webhook[position].getTime()}`
    const page = pages.get(name) ?? read(db, webhook.owner_id, webhook[position], rowsPerLook)
    pages.set(name, page)
    return page
  })
  const found = await Promise.all(read)
  const rows = found.flat().sort((one, other) => one.version.getTime() - other.version.getTime())
  return {
    hints: withPositions(webhook, rows),
    mayBeMore: found.some(({ length }) => length === rowsPerLook),
    // After a restore, clocks are ahead of the feeds. A webhook that stayed behind could never be turned off.
    emptyUntil: rows.length === 0 ? positionsAt(webhook, clock) : null,
  }
}

/** Adds to each row the webhook's positions after it. */
function withPositions(webhook: Webhook, rows: HintRow[]): NewHint[] {
  const feeds = feedsOf(webhook)
  const { bookings_seen, messages_seen } = webhook
  let seen: Positions = { bookings_seen, messages_seen }
  return rows.map(({ version, hint, trace }) => {
    const position = feeds.find(({ event }) => event === hint.type)?.position
    if (position) seen = { ...seen, [position]: version }
    return { hint, trace, seen }
  })
}

/** Returns a webhook's positions at its host's clock, except those that are later already. */
function positionsAt(webhook: Webhook, clock: HostClock | undefined): Positions {
  const { bookings_seen, messages_seen } = webhook
  const seen = { bookings_seen, messages_seen }
  for (const { position, counter } of feedsOf(webhook))
    seen[position] = new Date(Math.max(seen[position].getTime(), (clock?.[counter] ?? 0) * 1000))
  return seen
}

function feedsOf({ events }: Webhook): HintFeed[] {
  return hintFeeds.filter(({ event }) => events.includes(event))
}

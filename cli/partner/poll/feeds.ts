import type { Ahead, Data } from '../../../client/src/index.ts'
import type { PartnerClient } from '../client.ts'
import { supportedProvider } from '../service.ts'

/** The item fields that the poll needs. */
export interface Item {
  /** The item's position in the feed. */
  version: string
}

/** How the items of a feed are printed and handed to a command. */
export interface PolledFeed<T extends Item> {
  name: 'bookings' | 'messages'
  /** Columns of a table, with their minimum widths in characters; the last column is not padded. */
  columns: [name: keyof T & string, width: number][]
  /** Returns the environment variables for the command that handles an item. */
  environmentOf(item: T): Record<string, string>
  /** Describes an item for an error message. */
  describe(item: T): string
}

export const bookingFeed: PolledFeed<Data<'pollBookings'>['Bookings'][number]> = {
  name: 'bookings',
  columns: [
    ['booking_id', 12],
    ['listing_id', 12],
    ['room_type_id', 12],
    ['status', 10],
    ['checkin_at', 11],
    ['checkout_at', 11],
    ['version', 19],
  ],
  environmentOf: (item) => ({
    PARTNER_BOOKING_ID: String(item.booking_id),
    PARTNER_STATUS: item.status,
    PARTNER_VERSION: item.version,
  }),
  describe: (item) => `booking ${item.booking_id}`,
}

export const messageFeed: PolledFeed<Data<'pollMessages'>['messages'][number]> = {
  name: 'messages',
  columns: [
    ['id', 12],
    ['booking_id', 12],
    ['listing_id', 12],
    ['sender', 6],
    ['sender_name', 24],
    ['version', 19],
    ['text', 0],
  ],
  // The text is passed on standard input only, because environment variables are visible to other processes.
  environmentOf: (item) => ({
    PARTNER_MESSAGE_ID: String(item.id),
    PARTNER_BOOKING_ID: String(item.booking_id),
    PARTNER_SENDER: item.sender,
    PARTNER_VERSION: item.version,
  }),
  describe: (item) => `message ${item.id}`,
}

/** Maximum time that the service holds a request, in seconds (decisions §16). */
export const maxWaitSeconds = 30

/**
 * Looks at a one-item page of a feed. Returns the item's version, and the number of items that match the query. The page
 * does not count as read, because nothing handles its item: a poller that has stopped must not look alive.
 */
export async function peekItem(
  client: PartnerClient,
  name: PolledFeed<Item>['name'],
  query: { page?: number; updated_after?: string | undefined },
  signal?: AbortSignal,
): Promise<Peeked> {
  const { data, meta } = await client
    .request<Record<string, Item[]>>('GET', `/integrations/${supportedProvider}/${name}`, {
      query: { ...query, per_page: 1 },
      headers: { prefer: 'peek' },
      signal,
    })
    .withResponse()
  const [item] = Object.values(data).flat()
  const ahead = meta.ahead ? { after: query.updated_after, newestVersion: meta.newest_version } : undefined
  return { version: item?.version, total: meta.pagination?.total ?? 0, ahead }
}

/** What a one-item page of a feed shows. */
interface Peeked {
  /** The item's version; undefined if there is none. */
  version: string | undefined
  total: number
  /** Set if the position is ahead of the feed. */
  ahead: Ahead | undefined
}

/** Where a command has its position from, and how to begin again. */
const remedies = {
  state:
    'To start again, delete the state file, or pass --since with an earlier version; changes may come again',
  since: 'To start again, leave out --since or pass an earlier version',
  consumer:
    'To start again, delete the consumer, or move it back with "seek" (PUT …/consumers/<name>); changes may come again',
}

/** Says that a position is ahead of the feed (decisions §9), and how to start again. */
export function aheadText(
  feed: 'bookings' | 'messages',
  { after, newestVersion }: Ahead,
  source: keyof typeof remedies,
): string {
  const name = feed === 'bookings' ? 'booking' : 'message'
  const position = after === undefined ? 'The position of the consumer' : `The position "${after}"`
  const newest = newestVersion === null ? 'which is empty' : `whose newest version is "${newestVersion}"`
  return `${position} is ahead of the ${name} feed, ${newest}, so nothing can come: it is from another service or from before a restore. ${remedies[source]}`
}

import type { Answer } from './answer.ts'
import {
  type Body,
  type CallOptions,
  callerOf,
  type Data,
  dataOf,
  type Id,
  type List,
  listOf,
  provider,
  type Query,
  type Schemas,
  segment,
  sent,
  type WriteOptions,
} from './call.ts'
import { Feed, type FeedFilters, type FeedPace, type FeedPosition } from './feed.ts'
import { sandboxOf } from './sandbox.ts'
import { type ClientOptions, type RequestOptions, Transport } from './transport.ts'

/**
 * Creates a client for one key and one environment.
 *
 * Failed requests are retried if a retry is harmless; see the table in the package's README. Methods reject with a
 * `PartnerError` if the service refuses a request, and with a `ConnectionError` if no complete response arrives.
 *
 * @throws TypeError if the key or the address is missing or malformed
 */
export function createClient(options: ClientOptions & { sandbox: true }): SandboxClient
export function createClient(options: ClientOptions): Client
export function createClient(options: ClientOptions): Client {
  const transport = new Transport(options)
  const client = methodsOf(transport)
  return options.sandbox ? { ...client, sandbox: sandboxOf(transport) } : client
}

type SandboxMethods = ReturnType<typeof sandboxOf>
export type Client = ReturnType<typeof methodsOf> & {
  /** Only with `sandbox: true`. */ sandbox?: SandboxMethods
}
export type SandboxClient = Client & { sandbox: SandboxMethods }

function methodsOf(transport: Transport) {
  const call = callerOf(transport)
  const list = <T>(
    path: string,
    query: RequestOptions['query'],
    options?: CallOptions,
    take: (answer: Answer) => T[] = dataOf,
  ): List<T> =>
    listOf(async (more) => {
      const answer = await transport.send('GET', path, { ...options, query: { ...query, ...more } })
      return { ...answer, data: take(answer) }
    })
  const feed = <T extends { version: string }>(name: 'bookings' | 'messages', key: string, options: object) =>
    new Feed<T>(
      transport,
      {
        path: `${provider}/${name}`,
        consumers: `${provider}/${name}/consumers`,
        itemsOf: (page) => page[key],
      },
      options,
    )
  const listingWrite = ({ data, envelope }: Answer): Written => ({ ...data, action: envelope.action })
  return {
    /** Sends a request to any route and returns the response's `data`; `path` is relative to `/v1` or `/sandbox`. */
    // biome-ignore lint/suspicious/noExplicitAny: any route
    request: <T = any>(method: string, path: string, options?: RequestOptions) =>
      call<T>(method, path, options),

    host: {
      /** Returns the host that the key belongs to. */
      get: (options?: CallOptions) => call<Data<'getHostProfile'>>('GET', '/me', options),
    },
    key: {
      /** Returns the key's own record: permissions, expiry, limit and usage. */
      get: (options?: CallOptions) => call<Data<'getKey'>>('GET', '/key', options),
    },
    health: {
      /** Returns whether the integration is quiet or broken: findings, positions in the feeds, counts of requests. */
      get: (options?: CallOptions) => call<Data<'getHealth'>>('GET', '/health', options),
    },
    requests: {
      /** Lists the requests made with the key, newest first. */
      list: (query: Query<'listRequests'> = {}, options?: CallOptions) =>
        list<Data<'listRequests'>[number]>('/requests', query, options),
      /** Returns request counts over time. */
      counts: (query: Query<'countRequests'> = {}, options?: CallOptions) =>
        call<Data<'countRequests'>>('GET', '/requests/counts', { ...options, query }),
    },
    users: {
      /** Lists users by id, or finds the user with an e-mail address. */
      list: (query: Query<'listUsers'> = {}, options?: CallOptions) =>
        list<Data<'listUsers'>[number]>('/users', query, options),
      get: (id: Id, options?: CallOptions) => call<Data<'getUser'>>('GET', `/users/${segment(id)}`, options),
      create: (body: Body<'createUser'>, options?: WriteOptions) =>
        call<Data<'createUser'>>('POST', '/users', { ...options, body }),
    },
    bookings: {
      create: (body: Body<'createBooking'>, options?: WriteOptions) =>
        call<Data<'createBooking'>>('POST', '/bookings', { ...options, body }),
      get: (id: Id, options?: CallOptions) =>
        call<Schemas['BookingDetail']>(
          'GET',
          `${provider}/bookings/${segment(id)}`,
          options,
          (answer) => answer.data.Booking,
        ),
      confirm: (id: Id, options?: WriteOptions) =>
        call<Schemas['BookingDetail']>(
          'POST',
          `/bookings/${segment(id)}/confirm`,
          { ...options, body: {} },
          (answer) => answer.data.Booking,
        ),
      cancel: (id: Id, body: Body<'cancelBooking'> = {}, options?: WriteOptions) =>
        call<Schemas['BookingDetail']>(
          'POST',
          `/bookings/${segment(id)}/cancel`,
          { ...options, body },
          (answer) => answer.data.Booking,
        ),
      /** Iterates over all new and changed bookings, once each. */
      feed: <Include extends 'detail' | undefined = undefined>(
        options: FeedPosition<FeedFilters<'pollBookings'>> &
          FeedPace & {
            /** `detail` adds the whole booking to each item, as `Booking`. */
            include?: Include
          } = {},
      ) => feed<Schemas['BookingChange'] & Included<Include>>('bookings', 'Bookings', options),
      /** Returns the number of bookings and their hash, to compare with your own. */
      digest: (query: Query<'digestBookings'> = {}, options?: CallOptions) =>
        call<Schemas['BookingDigest']>(
          'GET',
          `${provider}/bookings/digest`,
          { ...options, query },
          (answer) => answer.data.digest,
        ),
      consumers: consumersOf(transport, 'bookings'),
    },
    messages: {
      list: (bookingId: Id, query: Query<'listMessages'> = {}, options?: CallOptions) =>
        list<Schemas['Message']>(
          `/bookings/${segment(bookingId)}/messages`,
          query,
          options,
          ({ data }) => data.messages,
        ),
      /** Sends a message; `duplicate` says whether the conversation already ended with it, so that nothing was sent. */
      send: (bookingId: Id, text: string, options?: CallOptions) =>
        call(
          'POST',
          `/bookings/${segment(bookingId)}/messages`,
          { ...options, body: { message: { text } } },
          sent,
        ),
      /** Iterates over the new messages of all conversations, once each. */
      feed: (options: FeedPosition<FeedFilters<'pollMessages'>> & FeedPace = {}) =>
        feed<Data<'pollMessages'>['messages'][number]>('messages', 'messages', options),
      consumers: consumersOf(transport, 'messages'),
    },
    listings: {
      list: (query: Query<'listListings'> = {}, options?: CallOptions) =>
        list<Data<'listListings'>[number]>('/listings', query, options),
      get: (id: Id, options?: CallOptions) =>
        call<Data<'getListing'>>('GET', `/listings/${segment(id)}`, options),
      /** Creates a listing, or updates the listing with the same `original_id`; `action` says which happened. */
      create: (body: Body<'createListing'>, options?: WriteOptions) =>
        call('POST', '/listings', { ...options, body }, listingWrite),
      update: (id: Id, body: Body<'updateListing'>, options?: CallOptions) =>
        call('PATCH', `/listings/${segment(id)}`, { ...options, body }, listingWrite),
    },
    availability: {
      get: (query: Query<'getAvailability'>, options?: CallOptions) =>
        call<Data<'getAvailability'>>('GET', `${provider}/availability`, { ...options, query }),
      /**
       * Writes ranges. `asOf` is the version at which the booking feed ended when the counts were computed; it applies to
       * every item without an `as_of` of its own. `newest_version` of the result is later if a booking has come in between.
       */
      update: (
        items: Body<'updateAvailability'>['data'],
        { asOf, ...options }: WriteOptions & { asOf?: string | undefined } = {},
      ) =>
        call<Data<'updateAvailability'> & { newest_version: string | null }>(
          'POST',
          `${provider}/availability`,
          { ...options, body: { data: asOf === undefined ? items : items.map(withAsOf(asOf)) } },
          ({ data, meta }) => ({ ...data, newest_version: meta.newest_version }),
        ),
      /** Returns the number of units left on each night. */
      nights: (query: Query<'getNights'>, options?: CallOptions) =>
        call<Data<'getNights'>>('GET', `${provider}/availability/nights`, { ...options, query }),
    },
    calendars: {
      /** Lists the calendars of rooms, by listing, room type and room. */
      list: (query: Query<'listCalendars'> = {}, options?: CallOptions) =>
        list<Schemas['CalendarEntry']>(`${provider}/calendars`, query, options, ({ data }) => data.calendars),
      /** Returns a room's calendar with its blocks. */
      get: (roomId: Id, options?: CallOptions) =>
        call<Schemas['Calendar']>('GET', calendarPath(roomId), options, ({ data }) => data.calendar),
      /** Reads a room's calendar now and returns it, whatever the outcome. This may take 20 s. */
      read: (roomId: Id, body: Body<'readCalendar'> = {}, options?: CallOptions) =>
        call<Schemas['Calendar']>(
          'POST',
          `${calendarPath(roomId)}/read`,
          { ...options, body },
          ({ data }) => data.calendar,
        ),
      /**
       * Returns what the text of a calendar file would block; nothing is stored. In place of the text alone, the body may
       * also name a room, whose listing gives the time zone for times in UTC.
       */
      check: (body: string | Body<'checkCalendar'>, options?: CallOptions) =>
        call<Schemas['CheckedCalendar']>('POST', `${provider}/calendars/check`, {
          ...options,
          body: typeof body === 'string' ? { text: body } : body,
        }),
    },
    rates: {
      /** Updates rates; pass the result's `job_id` to `job()`. */
      update: (items: Body<'updateRates'>['data'], options?: WriteOptions) =>
        call<Data<'updateRates'> & { job_id: number }>(
          'POST',
          `${provider}/rates`,
          { ...options, body: { data: items } },
          ({ data, meta }) => ({ ...data, job_id: meta.job_id }),
        ),
      job: (id: Id, options?: CallOptions) =>
        call<Data<'getRateJob'>>('GET', `${provider}/rates/jobs/${segment(id)}`, options),
    },
    providerKey: {
      store: (body: Body<'storeProviderKey'>, options?: CallOptions) =>
        call<Data<'storeProviderKey'>>('POST', `${provider}/provider-key`, { ...options, body }),
    },
    webhooks: {
      list: (options?: CallOptions) => call<Data<'listWebhooks'>>('GET', '/webhooks', options),
      get: (id: Id, options?: CallOptions) =>
        call<Data<'getWebhook'>>('GET', `/webhooks/${segment(id)}`, options),
      /** Creates a webhook; only this response contains its secret. */
      create: (body: Body<'createWebhook'>, options?: CallOptions) =>
        call<Data<'createWebhook'>>('POST', '/webhooks', { ...options, body }),
      update: (id: Id, body: Body<'updateWebhook'>, options?: CallOptions) =>
        call<Data<'updateWebhook'>>('PATCH', `/webhooks/${segment(id)}`, { ...options, body }),
      delete: (id: Id, options?: CallOptions) =>
        call<void>('DELETE', `/webhooks/${segment(id)}`, options, () => undefined),
      rotateSecret: (id: Id, options?: CallOptions) =>
        call<Data<'rotateWebhookSecret'>>('POST', `/webhooks/${segment(id)}/secret/rotate`, options),
      test: (id: Id, options?: CallOptions) =>
        call<Data<'testWebhook'>>('POST', `/webhooks/${segment(id)}/test`, options),
      deliveries: (id: Id, options?: CallOptions) =>
        call<Data<'listWebhookDeliveries'>>('GET', `/webhooks/${segment(id)}/deliveries`, options),
      resend: (id: Id, deliveryId: Id, options?: CallOptions) =>
        call<Data<'resendWebhookDelivery'>>(
          'POST',
          `/webhooks/${segment(id)}/deliveries/${segment(deliveryId)}/resend`,
          options,
        ),
    },
  }
}

/** Returns a function that sets `as_of` of an item that has none. */
function withAsOf(asOf: string) {
  return (item: Body<'updateAvailability'>['data'][number]) => ({ ...item, as_of: item.as_of ?? asOf })
}

function calendarPath(roomId: Id): string {
  return `${provider}/calendars/${segment(roomId)}`
}

/** The fields that `include` adds to each item of the booking feed. */
type Included<Include> = Include extends 'detail' ? { Booking: Schemas['BookingDetail'] } : unknown
/** The result of a listing write. */
type Written = Data<'createListing'> & { action: string }

/** Returns the methods for a feed's consumers, whose positions the service keeps. */
export function consumersOf(transport: Transport, feed: 'bookings' | 'messages') {
  const call = callerOf(transport)
  const root = `${provider}/${feed}/consumers`
  const pathOf = (name: string) => `${root}/${segment(name)}`
  return {
    list: (options?: CallOptions) => call<Data<'listBookingConsumers'>>('GET', root, options),
    get: (name: string, options?: CallOptions) =>
      call<Data<'getBookingConsumer'>>('GET', pathOf(name), options),
    put: (name: string, body: Body<'putBookingConsumer'>, options?: CallOptions) =>
      call<Data<'putBookingConsumer'>>('PUT', pathOf(name), { ...options, body }),
    delete: (name: string, options?: CallOptions) =>
      call<void>('DELETE', pathOf(name), options, () => undefined),
  }
}

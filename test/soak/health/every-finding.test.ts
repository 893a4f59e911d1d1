import { expect, test } from 'vitest'
import { updateKey } from '../../../src/access/keys/store.ts'
import { setListingStatus } from '../../../src/inventory/listings/store.ts'
import { type Actor, seedBooking, type TestResponse } from '../../support/app.ts'
import { limitAllNights } from '../../support/availability.ts'
import {
  type CalendarServer,
  calendarOf,
  dayFromNow,
  listingWithCalendars,
  startCalendarServer,
} from '../../support/calendars.ts'
import { withClock } from '../../support/hook-services.ts'
import { type Received, startReceiver } from '../../support/receiver.ts'

/**
 * Every finding appears in health, opens one alarm at a real receiver, goes by what a partner does about it (or by the
 * hour that its counts cover), and resolves the alarm once. The findings run side by side, each with a host of its own.
 */

const minute = 60_000
const day = 86_400_000
const { service, move } = await withClock()
const feeds = {
  bookings: '/integrations/provider_one/bookings',
  messages: '/integrations/provider_one/messages',
}
type Feed = keyof typeof feeds
const calendars = '/integrations/provider_one/calendars'
type Root = '/v1' | '/sandbox'

/** A partner with a webhook for alarms, whose integration is about to break. */
interface Partner {
  actor: Actor
  root: Root
  /** What the webhook for alarms has received. */
  received: Received[]
  /** A server of calendars. */
  calendars: CalendarServer
  /** The URL of another receiver, and the status with which it responds. */
  broken: { url: string; respondsWith(status: number): void }
  send(method: string, path: string, body?: object): Promise<TestResponse>
}

/** Something that breaks in an integration. */
interface Case {
  /** The finding's code and subject, without ids. */
  finding: { code: string; feed?: Feed; consumer?: string; operation_id?: string }
  /** True if the finding follows the real time in the sandbox too. */
  isOnRealTime?: true
  rateLimit?: number
  /** Breaks the integration. The finding appears half an hour later at the latest. */
  begin(partner: Partner): Promise<unknown>
  /** Mends it. The finding goes within an hour. */
  end(partner: Partner): Promise<unknown>
}

const cases: Case[] = [
  ...(['bookings', 'messages'] as const).flatMap((feed): Case[] => [
    {
      finding: { code: 'feed_unread', feed },
      async begin(partner) {
        await readToEnd(partner, feed)
        await seedBooking(partner.actor, partner.root)
      },
      end: (partner) => readToEnd(partner, feed),
    },
    {
      finding: { code: 'position_ahead', feed },
      async begin(partner) {
        await seedBooking(partner.actor, partner.root)
        await partner.send('GET', `${feeds[feed]}?updated_after=2090-01-01`)
      },
      end: (partner) => readToEnd(partner, feed),
    },
    {
      finding: { code: 'consumer_behind', feed, consumer: 'sync' },
      async begin(partner) {
        await seedBooking(partner.actor, partner.root)
        await acknowledge(partner, feed, null)
      },
      end: async (partner) => acknowledge(partner, feed, await readToEnd(partner, feed)),
    },
  ]),
  {
    finding: { code: 'webhook_off' },
    async begin(partner) {
      partner.broken.respondsWith(410)
      const id = await hintBrokenReceiver(partner)
      await expect.poll(() => webhookOf(partner, id)).toMatchObject({ disabled_reason: 'gone' })
    },
    async end(partner) {
      partner.broken.respondsWith(204)
      const { id } = await brokenWebhook(partner)
      await partner.send('PATCH', `/webhooks/${id}`, { enabled: true })
    },
  },
  {
    finding: { code: 'webhook_failing' },
    async begin(partner) {
      partner.broken.respondsWith(503)
      const id = await hintBrokenReceiver(partner)
      const deliveries = () => partner.send('GET', `/webhooks/${id}/deliveries`)
      await expect.poll(async () => (await deliveries()).body.data[0]?.response_status).toBe(503)
    },
    end: async ({ broken }) => broken.respondsWith(204),
  },
  {
    finding: { code: 'key_expires' },
    isOnRealTime: true,
    begin: ({ actor }) => expireIn(actor, 10 * day),
    end: ({ actor }) => expireIn(actor, 400 * day),
  },
  {
    finding: { code: 'limit_reached' },
    isOnRealTime: true,
    rateLimit: 30,
    begin: (partner) => sendMany(partner, 60, '/listings'),
    end: ({ actor }) => updateKey(actor.db, String(actor.keyId), { rate_limit: 1_000_000 }),
  },
  {
    finding: { code: 'requests_refused' },
    isOnRealTime: true,
    begin: (partner) => sendMany(partner, 30, '/listings/999999999'),
    end: async () => {},
  },
  {
    finding: { code: 'writes_refused', operation_id: 'createListing' },
    async begin(partner) {
      for (let refusal = 1; refusal <= 3; refusal += 1) await partner.send('POST', '/listings', {})
    },
    end: (partner) => partner.send('POST', '/listings', { name: 'House' }),
  },
  {
    finding: { code: 'listing_without_price' },
    async begin(partner) {
      const { body } = await partner.send('POST', '/listings', {
        name: 'House',
        room_types: [{ name: 'Single' }],
      })
      const { id } = body.data
      await limitAllNights(partner.actor, partner.root)
      await setListingStatus(contextOf(partner), { id, owner_id: await ownerOf(partner) }, 'published')
    },
    async end(partner) {
      const { findings } = await healthOf(partner)
      const [listing_id] = findings[0].listing_ids
      const listing = await partner.send('GET', `/listings/${listing_id}`)
      const room_type_id = listing.body.data.room_types[0].id
      const rates = { data: [{ listing_id, room_type_id, base_price: 500 }] }
      await partner.send('POST', '/integrations/provider_one/rates', rates)
    },
  },
  {
    finding: { code: 'calendar_failing' },
    async begin(partner) {
      partner.calendars.serve('/room', () => new Response('Down', { status: 503 }))
      await calendarRoom(partner)
      await readCalendar(partner)
      await setAddressAgo(partner, 6 * 60 * minute)
    },
    async end(partner) {
      partner.calendars.serve('/room', calendarOf([]))
      await readCalendar(partner)
    },
  },
  {
    finding: { code: 'calendar_conflict' },
    async begin(partner) {
      const { user_id, listing_id, room_type_id } = await calendarRoom(partner)
      const stay = {
        user_id,
        listing_id,
        room_type_id,
        checkin_at: dayFromNow(390),
        checkout_at: dayFromNow(420),
      }
      expect((await partner.send('POST', '/bookings', stay)).status).toBe(201)
      partner.calendars.serve('/room', calendarOf([[dayFromNow(400), dayFromNow(402)]]))
      await readCalendar(partner)
    },
    async end(partner) {
      const { listing_id } = await calendarEntry(partner)
      const { body } = await partner.send('GET', `${feeds.bookings}?listing_id=${listing_id}`)
      const [{ booking_id }] = body.data.Bookings
      expect((await partner.send('POST', `/bookings/${booking_id}/cancel`, {})).status).toBe(200)
      await readCalendar(partner)
    },
  },
  {
    finding: { code: 'calendar_incomplete' },
    async begin(partner) {
      const withoutDates = ['BEGIN:VEVENT', 'UID:x', 'END:VEVENT', 'END:VCALENDAR'].join('\r\n')
      partner.calendars.serve('/room', calendarOf([]).replace('END:VCALENDAR', withoutDates))
      await calendarRoom(partner)
      await readCalendar(partner)
    },
    async end(partner) {
      partner.calendars.serve('/room', calendarOf([]))
      await readCalendar(partner)
    },
  },
  {
    finding: { code: 'nights_open' },
    async begin(partner) {
      const { listing_id: id } = await calendarRoom(partner, null)
      await setListingStatus(contextOf(partner), { id, owner_id: await ownerOf(partner) }, 'published')
    },
    end: ({ actor, root }) => limitAllNights(actor, root),
  },
]

test.for<{ name: string; root: Root }>([
  { name: 'live', root: '/v1' },
  { name: 'the sandbox', root: '/sandbox' },
])(
  'in $name, every finding appears and goes in health, and opens and resolves one alarm',
  async ({ root }, context) => {
    const partners = await Promise.all(cases.map((one) => newPartner(context, root, one)))
    const begun = cases.map((one, at) => ({ ...one, partner: partners[at] as Partner }))
    const found = begun.map(({ finding }) => [finding])
    const types = () => partners.map(({ received }) => received.map(({ hint }) => hint.type))
    const each = (value: unknown) => partners.map(() => value)

    expect(await Promise.all(partners.map(findingsOf))).toEqual(each([]))
    await Promise.all(begun.map(({ begin, partner }) => begin(partner)))
    await settle()
    if (root === '/v1') move(31 * minute)
    else await advanceClocks(begun.filter(({ isOnRealTime }) => !isOnRealTime).map(({ partner }) => partner))
    expect(await Promise.all(partners.map(findingsOf))).toEqual(found)
    move(minute)
    await expect.poll(types).toEqual(each(['alarm.opened']))

    await Promise.all(begun.map(({ end, partner }) => end(partner)))
    await settle()
    move(31 * minute)
    // A write keeps a sandbox open for another hour.
    if (root === '/sandbox') await advanceClocks(partners)
    move(31 * minute)
    await expect.poll(() => Promise.all(partners.map(findingsOf))).toEqual(each([]))
    await expect.poll(types).toEqual(each(['alarm.opened', 'alarm.resolved']))

    // Once a later alarm has arrived, everything has been evaluated again.
    const witness = await newPartner(context, root, {})
    await expireIn(witness.actor, 10 * day)
    move(minute)
    await expect.poll(() => witness.received.length).toBe(1)
    const heard = partners.map(({ received }) =>
      received.map(({ hint }) => ({
        type: hint.type,
        alarm_id: hint.data.alarm_id,
        ...subjectOf(hint.data),
      })),
    )
    const expected = begun.map(({ finding, partner }) => {
      const alarm_id = partner.received[0]?.hint.data.alarm_id
      return ['alarm.opened', 'alarm.resolved'].map((type) => ({ type, alarm_id, ...finding }))
    })
    expect(heard).toEqual(expected)
    expect(new Set(heard.map(([opened]) => opened?.alarm_id)).size).toBe(cases.length)
  },
)

async function newPartner(
  context: Parameters<typeof startReceiver>[0],
  root: Root,
  { rateLimit }: Pick<Case, 'rateLimit'>,
): Promise<Partner> {
  const actor = await service.actor({ rateLimit: rateLimit ?? 1_000_000 })
  let status = 204
  // A new sandbox has listings without availability.
  if (root === '/sandbox') await limitAllNights(actor, root)
  const alarms = startReceiver(context)
  const broken = startReceiver(context, () => new Response(null, { status }))
  const partner: Partner = {
    actor,
    root,
    received: alarms.received,
    calendars: startCalendarServer((stop) => context.onTestFinished(() => stop().then(() => {}))),
    broken: {
      url: broken.url,
      respondsWith(next) {
        status = next
      },
    },
    send: (method, path, body) => actor.send(method, root + path, body ? { body } : {}),
  }
  const events = ['alarm.opened', 'alarm.resolved']
  expect((await partner.send('POST', '/webhooks', { url: alarms.url, events })).status).toBe(201)
  return partner
}

/** Stores what has been noted: how far the feeds were read, and how requests ended. */
async function settle(): Promise<void> {
  // A write is noted after its response has been sent.
  await service.logged()
  await Promise.all([service.live.activity.flush(), service.sandbox.activity.flush()])
}

/** Moves the sandboxes' own clocks by 31 minutes. */
async function advanceClocks(partners: Partner[]): Promise<void> {
  for (const { send } of partners) {
    const advance = () => send('POST', '/clock', { advance_seconds: 31 * 60 })
    // A process takes a moment to notice that a key's limit was raised.
    await expect.poll(async () => (await advance()).status).toBe(200)
  }
}

async function healthOf(partner: Partner) {
  await settle()
  const { status, body } = await partner.send('GET', '/health')
  expect(status).toBe(200)
  return body.data
}

async function findingsOf(partner: Partner) {
  const { findings } = await healthOf(partner)
  return findings.map(subjectOf)
}

/** Returns a finding's code and subject. A field that the finding lacks is undefined, which equals a missing one. */
type Subject = Partial<Record<'code' | 'feed' | 'consumer' | 'operation_id', string>>
function subjectOf({ code, feed, consumer, operation_id }: Subject) {
  return { code, feed, consumer, operation_id }
}

function contextOf({ root }: Partner) {
  return root === '/v1' ? service.live : service.sandbox
}

/** Returns the id of the host, or of the key's sandbox. */
async function ownerOf(partner: Partner): Promise<number> {
  const webhook = await contextOf(partner)
    .db.collection('webhooks')
    .findOne({ created_by: partner.actor.keyId })
  return webhook?.owner_id
}

/** Reads all pages of a feed, and returns the newest version. */
async function readToEnd({ send }: Partner, feed: Feed): Promise<string> {
  const { body } = await send('GET', `${feeds[feed]}?per_page=100`)
  const rows: { version: string }[] = feed === 'bookings' ? body.data.Bookings : body.data.messages
  expect(rows.length).toBeLessThan(100)
  return rows.at(-1)?.version ?? ''
}

async function acknowledge({ send }: Partner, feed: Feed, acknowledged: string | null): Promise<void> {
  const { status } = await send('PUT', `${feeds[feed]}/consumers/sync`, { acknowledged })
  expect(status).toBeLessThan(300)
}

/** Creates a webhook for the receiver that is broken, and a change of which it hears. Returns the webhook's id. */
async function hintBrokenReceiver(partner: Partner): Promise<number> {
  const { send, broken } = partner
  const { body } = await send('POST', '/webhooks', { url: broken.url, events: ['booking.changed'] })
  await seedBooking(partner.actor, partner.root)
  return body.data.id
}

async function brokenWebhook({ send, broken }: Partner): Promise<{ id: number }> {
  const { body } = await send('GET', '/webhooks')
  return body.data.find(({ url }: { url: string }) => url === broken.url)
}

async function webhookOf({ send }: Partner, id: number) {
  return (await send('GET', `/webhooks/${id}`)).body.data
}

/** Creates a guest, and a listing whose only room has the address of a calendar or none. */
function calendarRoom({ actor, root, calendars }: Partner, url: string | null = `${calendars.url}/room`) {
  return listingWithCalendars(actor, [url], root)
}

/** Returns the entry of the partner's only calendar. */
async function calendarEntry({ send }: Partner): Promise<{ room_id: number; listing_id: number }> {
  const { body } = await send('GET', calendars)
  return body.data.calendars[0]
}

/** Reads the calendar of the partner's room now. */
async function readCalendar(partner: Partner): Promise<void> {
  const { room_id } = await calendarEntry(partner)
  const { send } = partner
  // The service may be reading it.
  await expect
    .poll(async () => (await send('POST', `${calendars}/${room_id}/read`, { accept: true })).status)
    .toBe(200)
}

/** Makes the address of the partner's calendar older, which was never read. */
async function setAddressAgo(partner: Partner, milliseconds: number): Promise<void> {
  const { db, clock } = contextOf(partner)
  const owner_id = await ownerOf(partner)
  const set_at = new Date(clock(owner_id).getTime() - milliseconds)
  const { modifiedCount } = await db.collection('calendars').updateMany({ owner_id }, { $set: { set_at } })
  expect(modifiedCount).toBe(1)
}

async function expireIn({ db, keyId }: Actor, milliseconds: number): Promise<void> {
  await updateKey(db, String(keyId), { expires_at: new Date(service.live.clock().getTime() + milliseconds) })
}

async function sendMany({ send }: Partner, count: number, path: string): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => send('GET', path)))
}

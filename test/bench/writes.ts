import { addDays } from '../../src/core/clock.ts'
import { listingModel } from '../../src/inventory/listings/model.ts'
import { compare, type Load, manyConnections, type Target } from './load.ts'
import type { BenchServers, Creator } from './servers.ts'
import { atLeast, atMost, type Row } from './table.ts'

const rounds = 4
const provider = '/v1/integrations/provider_one'

/** Compares write requests to the same requests on a minimal server with the same durability. */
export async function writes(servers: BenchServers): Promise<Row[]> {
  return [
    ...(await creates(servers)),
    await replays(servers),
    await duplicates(servers),
    ...(await rename(servers)),
    ...(await availability(servers)),
    ...(await rates(servers)),
  ]
}

/** Compares the creation of keyed bookings with a message to the same work on the other servers. */
async function creates({ service, references, creators, large }: BenchServers): Promise<Row[]> {
  const create = (of: Creator[]) => service('/v1/bookings', booking(of))
  const { bare, ...frameworks } = references
  const [first] = creators as [Creator]
  const plain = bare('/bookings', booking(creators, large.key))
  const others = Object.entries(frameworks).map(([name, ask]) => [
    name,
    ask('/bookings', booking(creators, large.key)),
  ])
  const alone = await compare({ bare: plain, partner: create([first]) }, rounds, 1)
  const many: Record<string, Load> = await compare(
    { bare: plain, partner: create(creators), oneHost: create([first]), ...Object.fromEntries(others) },
    rounds,
  )
  const work = 'keyed booking with a message'
  const { partner, oneHost, ...rest } = many as Record<'partner' | 'oneHost', Load> & Record<string, Load>
  const share = (load: Load) => load.perSecond / (rest.bare as Load).perSecond
  const line = (load: Load, connections: number) => ({ server: 'partner', connections, load })
  return [
    { work, server: 'bare', connections: 1, load: alone.bare },
    atMost({
      work,
      ratio: alone.partner.p50 / alone.bare.p50,
      limit: 3,
      of: 'the p50 of bare',
      ...line(alone.partner, 1),
    }),
    ...Object.entries(rest).map(([server, load]) => {
      const beside = { server, connections: manyConnections, load }
      if (server === 'bare') return { work, ...beside }
      return atLeast({
        work,
        ratio: partner.perSecond / load.perSecond,
        limit: 1.2,
        of: 'its requests/s, 8 hosts',
        ...beside,
      })
    }),
    atLeast({
      work: `${work}, 8 hosts`,
      ratio: share(partner),
      limit: 0.4,
      of: 'the requests/s of bare',
      ...line(partner, manyConnections),
    }),
    atLeast({
      work: `${work}, one host`,
      ratio: share(oneHost),
      limit: 0.25,
      of: 'the requests/s of bare',
      ...line(oneHost, manyConnections),
    }),
  ]
}

/** Compares replays of a keyed booking to new bookings. */
async function replays({ service, creators }: BenchServers): Promise<Row> {
  const fresh = booking(creators)
  const [of] = creators as [Creator]
  const again = { ...booking([of])(0) }
  const targets = { first: service('/v1/bookings', fresh), replay: service('/v1/bookings', () => again) }
  const { first, replay } = (await compare(targets, rounds, 1)) as Record<'first' | 'replay', Load>
  const line = { server: 'partner', connections: 1, load: replay }
  return atMost({
    work: 'replay of a keyed booking',
    ratio: replay.p50 / first.p50,
    limit: 0.25,
    of: 'the p50 of the first',
    ...line,
  })
}

/** Compares a repeated message to a new message. */
async function duplicates({ service, creators }: BenchServers): Promise<Row> {
  const [one, other] = creators as [Creator, Creator]
  const send = ({ key }: Creator, text: string) => sending(key, { message: { text } })
  const pathOf = ({ booking_id }: Creator) => `/v1/bookings/${booking_id}/messages`
  // In two conversations, because a new message in between would make the repeated one new too.
  const targets = {
    first: service(pathOf(one), () => send(one, crypto.randomUUID())),
    duplicate: service(pathOf(other), () => send(other, 'Is a desk in the room?')),
  }
  const { first, duplicate } = (await compare(targets, rounds, 1)) as Record<keyof typeof targets, Load>
  const line = { server: 'partner', connections: 1, load: duplicate }
  return atMost({
    work: 'duplicate of a message',
    ratio: duplicate.p50 / first.p50,
    limit: 0.4,
    of: 'the p50 of a new one',
    ...line,
  })
}

/** Returns a function that builds booking requests for each host in turn, each with its own `Idempotency-Key`. */
function booking(of: Creator[], sharedKey?: string) {
  return (count: number): RequestInit => {
    const { key, stay } = of[count % of.length] as Creator
    const body = {
      ...stay,
      checkin_at: '2030-01-01',
      checkout_at: '2030-02-01',
      message: 'Is a desk in the room?',
    }
    return sending(sharedKey ?? key, body, { 'idempotency-key': crypto.randomUUID() })
  }
}

/** Measures repeated changes to one listing's name. */
async function rename({ db, service, references, creators }: BenchServers): Promise<Row[]> {
  const [{ key, listing_id }] = creators as [Creator]
  // The bare server changes a document of the same size as the service's.
  const { _id, ...listing } = (await listingModel(db).collection.findOne({ id: listing_id })) ?? {}
  await db
    .getClient()
    .db('reference')
    .collection('listings')
    .insertOne({ ...listing, id: 1 })
  const patch = (count: number) => ({ ...sending(key, { name: `House ${count}` }), method: 'PATCH' })
  const post = (count: number) => sending(key, { name: `House ${count}` })
  const targets = {
    bare: references.bare('/name', post),
    partner: service(`/v1/listings/${listing_id}`, patch),
  }
  const load = await compare(targets, rounds, 1)
  const work = 'PATCH of a name'
  return oneByOne(load, { work, figure: (of) => of.p50, limit: 4, of: 'the p50 of bare' })
}

/** Measures availability updates for 1,000 nights of a large host's listings. */
async function availability({ service, references, large }: BenchServers): Promise<Row[]> {
  const { body } = await large.send('GET', '/v1/listings?per_page=50')
  const listings: { id: number; room_types: { id: number }[] }[] = body.data
  const items = (count: number) =>
    listings.flatMap(({ id, room_types }) =>
      Array.from({ length: 20 }, (_, night) => ({
        listing_id: id,
        room_type_id: room_types[0]?.id,
        available: (count + night) % 5,
        start_date: addDays('2031-01-01', night),
        end_date: addDays('2031-01-01', night),
      })),
    )
  const post = (count: number) => sending(large.key, { data: items(count) })
  const targets: Record<'bare' | 'partner', Target> = {
    bare: references.bare('/availability', post),
    partner: service(`${provider}/availability`, post),
  }
  const load = await compare(targets, rounds, 1)
  const work = 'availability, 1,000 items'
  return oneByOne(load, { work, figure: (of) => of.cpu, limit: 1.5, of: 'the CPU of bare' })
}

/** Compares rate updates for 1,000 room types of a large host to a bulk write of as many replacements. */
async function rates({ service, references, large }: BenchServers): Promise<Row[]> {
  const pages = await Promise.all(
    Array.from({ length: 10 }, (_, page) => large.send('GET', `/v1/listings?per_page=100&page=${page + 1}`)),
  )
  const listings: { id: number; room_types: { id: number }[] }[] = pages.flatMap(({ body }) => body.data)
  const data = (count: number) =>
    listings.map(({ id, room_types }) => ({
      listing_id: id,
      room_type_id: room_types[0]?.id,
      base_price: 500 + (count % 100),
      currency: 'EUR',
    }))
  const post = (count: number) => sending(large.key, { data: data(count) })
  const nights = data(0).map((item) => ({ ...item, available: 1, start_date: '2031-01-01' }))
  const bare = references.bare('/availability', () => sending(large.key, { data: nights }))
  const load = await compare({ bare, partner: service(`${provider}/rates`, post) }, rounds, 1)
  const work = `rates of ${listings.length} room types`
  return oneByOne(load as Record<'bare' | 'partner', Load>, {
    work,
    figure: (of) => of.cpu,
    limit: 2.5,
    of: 'the CPU of bare',
  })
}

/** Returns the two rows of a single-connection comparison: the bare server, then this service with the verdict. */
function oneByOne(
  { bare, partner }: Record<'bare' | 'partner', Load>,
  { work, figure, limit, of }: { work: string; figure: (load: Load) => number; limit: number; of: string },
): Row[] {
  const line = { server: 'partner', connections: 1, load: partner }
  return [
    { work, server: 'bare', connections: 1, load: bare },
    atMost({
      work,
      ratio: figure(partner) / figure(bare),
      limit,
      of,
      ...line,
    }),
  ]
}

function sending(key: string, body: object, headers: Record<string, string> = {}): RequestInit {
  return {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

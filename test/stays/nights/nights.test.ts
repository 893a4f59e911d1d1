import { expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { type Actor, seedBooking, testApp } from '../../support/app.ts'
import { seededRandom } from '../../support/history.ts'

const service = await testApp()
const provider = '/v1/integrations/provider_one'

interface Night {
  date: string
  available: number | null
  booked: number
  blocked: number
  left: number | null
}

const ask = (actor: Pick<Actor, 'send'>, query: Record<string, string | number>) =>
  actor.send('GET', `${provider}/availability/nights?${new URLSearchParams(query as Record<string, string>)}`)

async function partner() {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const unit = { listing_id, room_type_id }
  const nights = async (start_date: string, end_date: string) =>
    (await ask(actor, { ...unit, start_date, end_date })).body.data.nights[listing_id][
      room_type_id
    ] as Night[]
  return {
    actor,
    unit,
    nights,
    push: (available: number, start_date: string, end_date: string) =>
      actor.send('POST', `${provider}/availability`, {
        body: { data: [{ ...unit, available, start_date, end_date }] },
      }),
    book: (checkin_at: string, checkout_at: string) =>
      actor.send('POST', '/v1/bookings', { body: { ...unit, user_id, checkin_at, checkout_at } }),
  }
}

test('nights show the available, booked and left units, and null if no range covers them', async () => {
  const { nights, push, book } = await partner()
  await book('2031-01-02', '2031-01-05')
  expect(await nights('2031-01-01', '2031-01-03')).toEqual([
    { date: '2031-01-01', available: null, booked: 0, blocked: 0, left: null },
    { date: '2031-01-02', available: null, booked: 1, blocked: 0, left: null },
    { date: '2031-01-03', available: null, booked: 1, blocked: 0, left: null },
  ])
  await push(2, '2031-01-03', '2031-01-31')
  await book('2031-01-04', '2031-01-06')
  expect(await nights('2031-01-02', '2031-01-06')).toEqual([
    { date: '2031-01-02', available: null, booked: 1, blocked: 0, left: null },
    { date: '2031-01-03', available: 2, booked: 0, blocked: 0, left: 2 },
    { date: '2031-01-04', available: 2, booked: 1, blocked: 0, left: 1 },
    { date: '2031-01-05', available: 2, booked: 1, blocked: 0, left: 1 },
    { date: '2031-01-06', available: 2, booked: 0, blocked: 0, left: 2 },
  ])
})

test('all room types of a listing are shown, including those of an inactive listing', async () => {
  const { actor, unit } = await partner()
  const { data } = (await actor.send('GET', `/v1/listings/${unit.listing_id}`)).body
  await service.live.db
    .collection('listings')
    .updateOne({ id: unit.listing_id }, { $set: { listing_status: 'inactive' } })
  const { status, body } = await ask(actor, {
    listing_id: unit.listing_id,
    start_date: '9999-12-30',
    end_date: '9999-12-31',
  })
  expect(status).toBe(200)
  const shown = body.data.nights[unit.listing_id]
  expect(Object.keys(shown).map(Number)).toEqual(
    data.room_types.map(({ id }: { id: number }) => id).sort((one: number, other: number) => one - other),
  )
  for (const nights of Object.values(shown)) expect(nights).toHaveLength(2)
})

test.each([
  [{ start_date: '2031-01-01', end_date: '2031-01-02' }, 'listing_id', 'required'],
  [{ listing_id: 'x', start_date: '2031-01-01', end_date: '2031-01-02' }, 'listing_id', 'invalid'],
  [{ listing_id: 1, end_date: '2031-01-02' }, 'start_date', 'required'],
  [{ listing_id: 1, start_date: '2031-01-01' }, 'end_date', 'required'],
  [{ listing_id: 1, start_date: '2031-02-30', end_date: '2031-03-02' }, 'start_date', 'invalid'],
  [{ listing_id: 1, start_date: '2031-01-02', end_date: '2031-01-01' }, 'end_date', 'invalid'],
  [{ listing_id: 1, start_date: '2031-01-01', end_date: '2032-01-02' }, 'end_date', 'max'],
])('the query %j gets 422 at %s with %s', async (query, path, code) => {
  const { status, body } = await ask(await service.actor(), query as Record<string, string>)
  expect({ status, path: body.error.errors[0].path, code: body.error.errors[0].code }).toEqual({
    status: 422,
    path,
    code,
  })
})

test('a query may cover 366 nights, and 20,000 over all room types', async () => {
  const actor = await service.actor()
  const room_types = Array.from({ length: 60 }, (_, index) => ({ id: `r${index}`, name: `Room ${index}` }))
  const written = await actor.send('POST', '/v1/listings', { body: { id: 'many', name: 'Many', room_types } })
  const { id: listing_id } = written.body.data
  const start_date = '2032-01-01'
  const allowed = await ask(actor, { listing_id, start_date, end_date: addDays(start_date, 332) })
  expect({
    status: allowed.status,
    nights: Object.keys(allowed.body.data.nights[listing_id]).length,
  }).toEqual({ status: 200, nights: 60 })
  const refused = await ask(actor, { listing_id, start_date, end_date: addDays(start_date, 333) })
  expect({
    status: refused.status,
    path: refused.body.error.errors[0].path,
    code: refused.body.error.errors[0].code,
  }).toEqual({ status: 422, path: 'end_date', code: 'max' })
  const [room_type_id] = Object.keys(allowed.body.data.nights[listing_id])
  const one = await ask(actor, {
    listing_id,
    room_type_id: room_type_id as string,
    start_date,
    end_date: '2032-12-31',
  })
  expect(one.body.data.nights[listing_id][room_type_id as string]).toHaveLength(366)
})

test("another host's listing, and a room type of another listing, get 404", async () => {
  const own = await partner()
  const other = await partner()
  const days = { start_date: '2031-01-01', end_date: '2031-01-02' }
  for (const query of [
    other.unit,
    { ...own.unit, room_type_id: other.unit.room_type_id },
    { listing_id: 999_999_999 },
  ])
    expect((await ask(own.actor, { ...query, ...days })).status).toBe(404)
})

const operations = 250
const probes = 40
const days = 40

/** A model of the units that one room type has left each night, updated after each write in turn. */
class Model {
  private readonly nights = Array.from({ length: days }, () => ({
    available: null as number | null,
    booked: 0,
  }))
  /** The nights on which each booking still counts, by booking id. */
  private readonly counted = new Map<number, Set<number>>()

  push(available: number, from: number, to: number): void {
    for (let night = from; night <= to; night += 1) {
      this.nights[night] = { available, booked: 0 }
      for (const nights of this.counted.values()) nights.delete(night)
    }
  }

  mayBook(from: number, to: number): boolean {
    return this.nights
      .slice(from, to)
      .every(({ available, booked }) => available === null || available - booked > 0)
  }

  book(id: number, from: number, to: number): void {
    const nights = new Set<number>()
    for (let night = from; night < to; night += 1) {
      nights.add(night)
      ;(this.nights[night] as { booked: number }).booked += 1
    }
    this.counted.set(id, nights)
  }

  cancel(id: number): void {
    for (const night of this.counted.get(id) ?? []) (this.nights[night] as { booked: number }).booked -= 1
    this.counted.delete(id)
  }

  get ids(): number[] {
    return [...this.counted.keys()]
  }

  shown(start: string): Night[] {
    return this.nights.map(({ available, booked }, night) => {
      return {
        date: addDays(start, night),
        available,
        booked,
        blocked: 0,
        left: available === null ? null : Math.max(0, available - booked),
      }
    })
  }
}

test(`nights agree with an independent model over ${operations} operations, and predict whether each of ${probes} stays can be booked`, async () => {
  const random = seededRandom(20)
  const below = (limit: number) => Math.floor(random() * limit)
  const start = '2033-01-01'
  const { nights, push, book, actor } = await partner()
  const model = new Model()
  const day = (offset: number) => addDays(start, offset)
  const tryBooking = async () => {
    const from = below(days - 1)
    const to = Math.min(days, from + 1 + below(6))
    const { status, body } = await book(day(from), day(to))
    expect(status).toBe(model.mayBook(from, to) ? 201 : 422)
    if (status === 201) model.book(body.data.booking_id, from, to)
    return { from, to, status }
  }
  for (let operation = 0; operation < operations; operation += 1) {
    const kind = random()
    const ids = model.ids
    if (kind < 0.15) {
      const from = below(days)
      const to = Math.min(days - 1, from + below(15))
      const available = below(4)
      expect((await push(available, day(from), day(to))).status).toBe(200)
      model.push(available, from, to)
    } else if (kind < 0.4 && ids.length > 0) {
      const id = ids[below(ids.length)] as number
      const to = random() < 0.3 ? 'confirm' : 'cancel'
      const { status } = await actor.send('POST', `/v1/bookings/${id}/${to}`)
      if (to === 'cancel' && status === 200) model.cancel(id)
    } else await tryBooking()
    if (operation % 10 === 0 || operation === operations - 1)
      expect(await nights(start, day(days - 1))).toEqual(model.shown(start))
  }
  for (let probe = 0; probe < probes; probe += 1) {
    if (probe % 5 === 0) {
      const from = below(days)
      const to = Math.min(days - 1, from + below(15))
      const available = below(4)
      await push(available, day(from), day(to))
      model.push(available, from, to)
    }
    const shown = await nights(start, day(days - 1))
    const { from, to, status } = await tryBooking()
    const isFree = shown.slice(from, to).every(({ left }) => left === null || left > 0)
    expect(status).toBe(isFree ? 201 : 422)
  }
})

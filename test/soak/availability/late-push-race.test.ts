import { afterAll, expect, test } from 'vitest'
import { addDays, daysBetween } from '../../../src/core/clock.ts'
import { toVersion } from '../../../src/host-clock/format.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { bookingStatus } from '../../../src/stays/bookings/status.ts'
import { seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { seededRandom } from '../../support/history.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'
import {
  type AppliedPush,
  closedWithoutCause,
  type MadeBooking,
  type Refusal,
  soldTwice,
} from './unit-history.ts'

const service = await testApp()
const processes = await Promise.all([1, 2, 3].map(() => startService(testEnvironment())))
afterAll(() => Promise.all(processes.map((process) => process.stop())))

const provider = '/v1/integrations/provider_one'
const origin = '2032-01-01'
const nights = 6
const units = 2
const attemptsOfGuest = 120 * soakFactor
const seed = Date.now() % 100_000

test(`pushes, bookings and cancellations that race over three processes sell no unit twice and close no night without a cause (seed ${seed})`, async () => {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const unit = { listing_id, room_type_id }
  const random = seededRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const senders = processes.map(({ url }) => sender(fetch, url))
  const ask = (method: string, path: string, body?: object) =>
    (senders[below(3)] as (typeof senders)[0])(method, path, {
      key: actor.key,
      repeatWhileBusy: true,
      ...(body ? { body } : {}),
    })

  /** The latest version that any response has shown. */
  let acknowledged = ''
  const acknowledge = (version: string) => {
    if (version > acknowledged) acknowledged = version
  }
  const pushes: AppliedPush[] = []
  const counts = { booked: 0, refused: 0, cancelled: 0, pushed: 0, older: 0 }
  const refusals: Refusal[] = []
  const mine: number[] = []
  let isOpen = true

  async function look() {
    const { body } = await ask('GET', `${provider}/bookings?per_page=100`)
    const { Bookings } = body.data
    const found = [...Bookings]
    for (let { next_cursor: cursor } = body.meta.pagination; cursor; ) {
      const next = await ask('GET', `${provider}/bookings?per_page=100&cursor=${cursor}`)
      found.push(...next.body.data.Bookings)
      cursor = next.body.meta.pagination.next_cursor
    }
    return found
  }

  async function push() {
    const known = await look()
    const as_of: string = known.at(-1).version
    const state = new Map(known.map((one) => [one.booking_id, one]))
    const active = [...state.values()].filter(
      (one) => one.room_type_id === room_type_id && one.status !== 'cancelled',
    )
    const available = Array.from({ length: nights }, (_, night) => {
      const date = addDays(origin, night)
      const taken = active.filter(({ checkin_at, checkout_at }) => checkin_at <= date && date < checkout_at)
      return Math.max(0, units - taken.length)
    })
    // The count is on its way while guests book and cancel.
    await Bun.sleep(below(200))
    const data = available.map((count, night) => {
      const date = addDays(origin, night)
      return { ...unit, available: count, start_date: date, end_date: date, as_of }
    })
    const { status, body } = await ask('POST', `${provider}/availability`, { data })
    expect([200, 409], JSON.stringify(body)).toContain(status)
    if (status === 409) {
      expect(body.error.errors[0].path).toMatch(/^data\.\d\.as_of$/)
      counts.older += 1
      return
    }
    counts.pushed += 1
    pushes.push({ available, as_of, newest: body.meta.newest_version })
    acknowledge(body.meta.newest_version)
  }

  async function partner() {
    while (isOpen) await push()
  }

  async function guest() {
    for (let attempt = 0; attempt < attemptsOfGuest; attempt += 1) {
      const from = below(nights)
      const to = Math.min(nights, from + 1 + below(3))
      const after = acknowledged
      const stay = { ...unit, user_id, checkin_at: addDays(origin, from), checkout_at: addDays(origin, to) }
      const { status, body } = await ask('POST', '/v1/bookings', stay)
      expect([201, 422], JSON.stringify(body)).toContain(status)
      if (status === 201) {
        counts.booked += 1
        mine.push(body.data.booking_id)
      } else {
        expect(body.error.errors[0].code).toBe('unavailable')
        counts.refused += 1
        // The newest version at the time of the response is read now, by a request that begins after it.
        const newest = (await look()).at(-1).version
        acknowledge(newest)
        refusals.push({ from, to, after, until: newest })
      }
      const [oldest] = mine
      if (oldest === undefined || random() < 0.4) continue
      mine.splice(0, 1)
      const cancelled = await ask('POST', `/v1/bookings/${oldest}/cancel`)
      expect(cancelled.status).toBe(200)
      counts.cancelled += 1
    }
  }

  await push()
  const partners = [partner(), partner()]
  const guests = Promise.all([guest(), guest(), guest(), guest()]).finally(() => {
    isOpen = false
  })
  await Promise.all([guests, ...partners])

  const stored = await bookingModel(service.live.db).find({ owner_id: actor.hostId }).lean()
  const made: MadeBooking[] = stored
    .filter(({ checkin_at }) => checkin_at >= origin && checkin_at < addDays(origin, nights))
    .map(({ id, checkin_at, checkout_at, status, created_version, updated_at }) => ({
      id,
      from: daysBetween(origin, checkin_at),
      to: daysBetween(origin, checkout_at),
      created: toVersion(created_version),
      cancelled: status === bookingStatus.cancelled ? toVersion(updated_at) : null,
    }))
  console.log(JSON.stringify(counts))
  expect(soldTwice(made, units, nights)).toEqual([])
  expect(closedWithoutCause(refusals, made, pushes)).toEqual([])

  // At rest, a fresh count leaves exactly what is not booked.
  await push()
  const query = `start_date=${origin}&end_date=${addDays(origin, nights - 1)}&listing_id=${listing_id}&room_type_id=${room_type_id}`
  const { body } = await ask('GET', `${provider}/availability/nights?${query}`)
  const left = body.data.nights[listing_id][room_type_id].map((night: { left: number }) => night.left)
  const free = Array.from(
    { length: nights },
    (_, night) =>
      units - made.filter((one) => one.cancelled === null && one.from <= night && night < one.to).length,
  )
  expect(left).toEqual(free)
})

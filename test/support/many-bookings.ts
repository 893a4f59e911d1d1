import { addDays } from '../../src/core/clock.ts'
import { hostClockModel } from '../../src/host-clock/model.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { bookingModel } from '../../src/stays/bookings/model.ts'

const batch = 10_000
/** The first check-in. */
const firstNight = '2025-01-01'
/** The number of days over which the check-ins are spread. */
const nightsApart = 1000

/** Writes `count` bookings of a host straight into the database, one second apart, and sets the host's clock. */
export async function fillBookings(db: Db, hostId: number, count: number): Promise<{ lastVersion: Date }> {
  const first = Math.floor(Date.now() / 1000) - count - 3600
  for (let start = 0; start < count; start += batch) {
    const bookings = Array.from({ length: Math.min(batch, count - start) }, (_, at) => {
      const index = start + at
      const version = new Date((first + index) * 1000)
      return {
        id: hostId * 10_000_000 + index,
        owner_id: hostId,
        user_id: 1,
        listing_id: 1 + (index % 50),
        room_type_id: 1 + (index % 50),
        checkin_at: addDays(firstNight, index % nightsApart),
        checkout_at: addDays(firstNight, (index % nightsApart) + 31),
        nights: 31,
        status: 1 + (index % 3),
        currency: 'EUR',
        decimal_places: 2,
        price_minor: 90_000,
        discount_minor: 0,
        price_total_minor: 90_000,
        security_deposit_minor: 0,
        special_requests: null,
        cancellation_reason: null,
        confirmed_at: null,
        canceled_at: null,
        created_sequence: index + 1,
        created_version: version,
        created_at: version,
        updated_at: version,
      }
    })
    await bookingModel(db).collection.insertMany(bookings, {
      ordered: false,
      writeConcern: { w: 1 },
    })
  }
  const last = first + count - 1
  await hostClockModel(db).updateOne({ _id: hostId }, { $set: { last, sequence: count } }, { upsert: true })
  return { lastVersion: new Date(last * 1000) }
}

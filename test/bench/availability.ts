import { availabilityRowModel } from '../../src/availability/model.ts'
import { writeAvailability } from '../../src/availability/write.ts'
import { addDays, systemClock } from '../../src/clock.ts'
import { createHost } from '../../src/hosts/store.ts'
import { sequenceIds } from '../../src/ids.ts'
import { fillPortfolio } from '../support/portfolio.ts'
import { atMost, medianMilliseconds, type Row, times, withDatabase } from './measure.ts'

/** A bulk write of 1,000 items over 50 room types, compared with a bare `insertMany` of the same documents. */
export function availabilityBench(): Promise<Row[]> {
  return withDatabase(async ({ db }) => {
    const { id: hostId } = await createHost(db, systemClock, { name: 'Bench', email: 'bench@example.com' })
    const listings = 50
    await fillPortfolio(db, hostId, listings, 1)
    const items = Array.from({ length: 1000 }, (_, index) => {
      const date = addDays('2027-01-01', Math.floor(index / listings))
      const listing_id = 1 + (index % listings)
      return {
        listing_id,
        room_type_id: listing_id * 10,
        available: index % 5,
        start_date: date,
        end_date: date,
      }
    })
    const service = () => writeAvailability({ db, clock: systemClock, ids: sequenceIds(db) }, hostId, items)
    await service()
    const documents = await availabilityRowModel(db)
      .find({ host_id: hostId }, { _id: 0 })
      .limit(items.length)
      .lean()
    const bare = () =>
      availabilityRowModel(db).collection.insertMany(
        documents.map((document) => ({ ...document, host_id: -hostId })),
        { ordered: false },
      )
    const time = await medianMilliseconds({ bare, service }, 40)
    return [
      atMost(
        'availability: bulk of 1,000 items against a bare insertMany of its documents',
        time.service / time.bare,
        2,
        times(time.bare, time.service),
      ),
    ]
  })
}

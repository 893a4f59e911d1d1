import { expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { carryOut } from '../../../src/http/write.ts'
import { sentAvailability } from '../../../src/inventory/availability/availability-write.ts'
import { enqueueCompaction } from '../../../src/inventory/availability/compaction.ts'
import { findCounts } from '../../../src/inventory/availability/store.ts'
import { inSnapshot, inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { jobModel } from '../../../src/platform/outbox/outbox.ts'
import { testApp, testEnvironment } from '../../support/app.ts'
import { fillRows, storedRows } from '../../support/availability.ts'
import { ownDatabase } from '../../support/databases.ts'
import { fillPortfolio } from '../../support/portfolio.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const MONGODB_URL = await ownDatabase()
const service = await testApp({ MONGODB_URL })
const { db, clock, outbox } = service.live
const path = '/v1/integrations/provider_one/availability'

test('kill -9 in the middle of compactions changes no response, and the next process finishes them', async () => {
  await outbox.stop()
  const actor = await service.actor()
  const listings = 60
  await fillPortfolio(db, actor.hostId, listings, 1)
  const pairs = Array.from({ length: listings }, (_, at) => ({
    listing_id: at + 1,
    room_type_id: (at + 1) * 10,
  }))
  await fillRows(db, actor.hostId, pairs, 365)
  for (let round = 0; round < 3; round += 1) {
    const items = pairs.flatMap((pair) =>
      Array.from({ length: 15 }, (_, at) => {
        const start_date = addDays('2027-02-01', at * (9 - round))
        return { ...pair, available: round, start_date, end_date: addDays(start_date, 3 + at) }
      }),
    )
    await carryOut(service.live, sentAvailability, actor.hostId, items)
  }
  const roomTypes = pairs.map(({ room_type_id }) => room_type_id)
  await inTransaction(db, 'test', (session) =>
    enqueueCompaction(db, session, { now: clock(), ownerId: actor.hostId, roomTypeIds: roomTypes }),
  )
  const read = async () => (await actor.send('GET', path)).body.data
  const before = await read()
  const loose = () =>
    inSnapshot(db, async (session) => {
      const counts = await findCounts(db, session, actor.hostId, roomTypes)
      return [...counts.values()].filter(({ looseRows }) => looseRows > 0).length
    })
  expect(await loose()).toBeGreaterThan(0)
  for (let attempt = 0; attempt < 2 * soakFactor; attempt += 1) {
    // A killed process holds its job until the job's lease expires.
    await jobModel(db).updateMany({}, { $set: { due_at: clock() } })
    const victim = await startService(testEnvironment({ MONGODB_URL }))
    await Bun.sleep(attempt * 100)
    await victim.end('SIGKILL')
    expect(await read()).toEqual(before)
  }
  await jobModel(db).updateMany({}, { $set: { due_at: clock() } })
  outbox.start()
  do expect(await read()).toEqual(before)
  while ((await loose()) > 0)
  expect(await read()).toEqual(before)
  const shown = Object.values(before.availabilities as Record<string, Record<string, unknown[]>>)
  const rows = shown.flatMap((types) => Object.values(types).flat())
  expect(await storedRows(db, { owner_id: actor.hostId })).toHaveLength(rows.length)
})

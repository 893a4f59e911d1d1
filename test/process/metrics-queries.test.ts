import { expect, test } from 'vitest'
import { seedBooking, testApp } from '../support/app.ts'
import { listingWithCalendars } from '../support/calendars.ts'
import { ownDatabase } from '../support/databases.ts'

const token = 'a-token-of-the-operator'
const url = await ownDatabase()
const service = await testApp({ MONGODB_URL: url, METRICS_TOKEN: token })
const { db } = service.live

test('GET /metrics uses an index for every read and sorts nothing in memory', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  await listingWithCalendars(actor, ['https://calendars.example.com/a.ics'])
  await db.db?.command({ profile: 2 })
  const { status } = await service.send('GET', '/metrics', { headers: { authorization: `Bearer ${token}` } })
  await db.db?.command({ profile: 0 })
  expect(status).toBe(200)
  const profiled = await db
    .collection('system.profile')
    .find({
      ns: { $in: ['outbox', 'host_clocks', 'calendars'].map((name) => `${db.name}.${name}`) },
      op: { $in: ['query', 'command'] },
    })
    .toArray()
  const plans = profiled.map(({ ns, planSummary, hasSortStage }) => ({ ns, planSummary, hasSortStage }))
  expect(plans.length).toBeGreaterThanOrEqual(7)
  for (const plan of plans) {
    expect(plan.planSummary).toMatch(/IXSCAN|COUNT_SCAN/)
    expect(plan.hasSortStage).toBeUndefined()
  }
})

import { afterAll, expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { type Actor, makeActor, sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { type CsvRow, exportOf, toCsv } from '../../support/drift.ts'
import { seededRandom } from '../../support/history.ts'
import { fillBookings } from '../../support/many-bookings.ts'
import { partnerctl, startService } from '../../support/processes.ts'

const count = 100_000
const settings = { MONGODB_URL: await ownDatabase() }
const inspected = await testApp(settings)
const service = await startService(testEnvironment(settings))
afterAll(() => service.stop())
const actor: Actor = await makeActor(inspected.live, sender(fetch, service.url))
await fillBookings(inspected.live.db, actor.hostId, count)
const rows = await exportOf(actor)

/** Deletes, alters or duplicates (under another id) exported bookings; returns the export and the expected report. */
function drift(changes: number, seed: number) {
  const random = seededRandom(seed)
  const held = new Map(rows.map((row) => [row.booking_id, row]))
  const days = new Set<string>()
  const made = { missing: [] as number[], extra: [] as number[], different: [] as number[] }
  const victims = new Set<CsvRow>()
  while (victims.size < changes) victims.add(rows[Math.floor(random() * rows.length)] as CsvRow)
  for (const [index, row] of [...victims].entries()) {
    days.add(row.checkin_at)
    if (index % 3 === 0) {
      held.delete(row.booking_id)
      made.missing.push(row.booking_id)
    } else if (index % 3 === 1) {
      const booking_id = row.booking_id + 5_000_000
      held.set(booking_id, { ...row, booking_id })
      made.extra.push(booking_id)
    } else {
      const checkin_at = addDays(row.checkin_at, 1 + Math.floor(random() * 40))
      const status = row.status === 'pending' ? 'confirmed' : 'pending'
      const moved = { ...row, checkin_at }
      const altered = { ...row, status }
      if (random() < 0.5) days.add(checkin_at)
      held.set(row.booking_id, days.has(checkin_at) ? moved : altered)
      made.different.push(row.booking_id)
    }
  }
  const months = new Set([...days].map((day) => day.slice(0, 7)))
  const promised = changes === 0 ? 1 : 1 + months.size + days.size
  return { held: [...held.values()].sort(() => random() - 0.5), made, promised }
}

const ids = (bookings: { booking_id: number }[]) => bookings.map(({ booking_id }) => booking_id)
const inOrder = (numbers: number[]) => numbers.toSorted((one, other) => one - other)

test.each([0, 1, 10, 100])('%i bookings that drifted among 100,000 are found exactly', async (changes) => {
  const { held, made, promised } = drift(changes, 34 + changes)
  const environment = { PARTNER_BASE_URL: service.url, PARTNER_API_KEY: actor.key }
  const start = performance.now()
  const { code, stdout } = await partnerctl(
    ['reconcile', '--against', '-', '--json'],
    environment,
    toCsv(held),
  )
  const seconds = (performance.now() - start) / 1000
  const found = JSON.parse(stdout)
  expect({ code, compared: found.compared }).toEqual({ code: changes === 0 ? 0 : 1, compared: held.length })
  expect(ids(found.missing)).toEqual(inOrder(made.missing))
  expect(ids(found.extra)).toEqual(inOrder(made.extra))
  expect(ids(found.different)).toEqual(inOrder(made.different))
  expect({ newer: found.newer, requests: found.requests }).toEqual({ newer: [], requests: promised })
  console.log(`${changes} drifted: ${found.requests} requests, as promised, ${seconds.toFixed(1)} s`)
})

test('a repeated line is refused with its number', async () => {
  const held = [...rows, rows[7] as CsvRow]
  const environment = { PARTNER_BASE_URL: service.url, PARTNER_API_KEY: actor.key }
  const { code, stderr } = await partnerctl(['reconcile', '--against', '-'], environment, toCsv(held))
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`Line ${count + 2} of the file`),
  })
})

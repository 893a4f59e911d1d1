import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Actor, testApp } from '../../support/app.ts'
import { exportOf } from '../../support/drift.ts'
import { fillBookings } from '../../support/many-bookings.ts'
import { samplesOf, startSample } from '../../support/samples.ts'

const samples = samplesOf('after-an-outage').filter(({ code }) => code.includes('bookings.csv'))
const service = await testApp()
const folder = await mkdtemp(join(tmpdir(), 'partner-digest-'))
afterAll(() => rm(folder, { recursive: true }))
let actor: Actor

beforeAll(async () => {
  actor = await service.actor()
  await fillBookings(service.live.db, actor.hostId, 250)
  const rows = (await exportOf(actor)).reverse()
  const lines = rows.map(({ booking_id, status, checkin_at, checkout_at }) =>
    [booking_id, status, checkin_at, checkout_at].join(),
  )
  await writeFile(
    join(folder, 'bookings.csv'),
    `booking_id,status,checkin_at,checkout_at\n${lines.join('\n')}\n`,
  )
})

test.each([
  ['js', true],
  ['python', true],
  ['sh', false],
])("the guide's code in %s computes the digest", async (language, counts) => {
  const sample = samples.find((one) => one.language === language)
  if (!sample) throw new Error(`The guide has no code in ${language}`)
  const child = await startSample(sample, folder, {})
  const words = (await new Response(child.stdout).text()).trim().split(/\s+/)
  const { body } = await actor.send('GET', '/v1/integrations/provider_one/bookings/digest')
  const { count, sha256 } = body.data.digest
  expect(words).toEqual(counts ? [String(count), sha256] : [sha256, '-'])
  expect(count).toBe(250)
})

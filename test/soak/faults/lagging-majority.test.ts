import { afterAll, expect, test } from 'vitest'
import { seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { readFixture } from '../../support/fixtures.ts'
import { startService } from '../../support/processes.ts'
import { startReplicaSet } from '../../support/replica-set.ts'
import { soakFactor } from '../../support/soak.ts'

const rounds = 5 * soakFactor
const atOnce = 50

const replicas = await startReplicaSet()
const environment = { MONGODB_URL: replicas.url, LOG_LEVEL: 'silent' }
const observer = await testApp(environment)
const processes = await Promise.all([1, 2].map(() => startService(testEnvironment(environment))))
afterAll(async () => {
  await Promise.all(processes.map((process) => process.stop()))
  await replicas.stop()
})

test(`${atOnce} equal requests over two processes get the same response while replication pauses and resumes, in ${rounds} rounds`, async () => {
  const actor = await observer.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const user = await readFixture('users/maria')
  const stay = { checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const range = { listing_id, room_type_id, start_date: '2031-01-01', end_date: '2031-01-31' }
  const outcomes: { statuses: number[]; bodies: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    // The request takes the last unit or a unique e-mail address, so it can succeed again only as a retry.
    await actor.send('POST', '/v1/integrations/provider_one/availability', {
      body: { data: [{ ...range, available: 1 }] },
    })
    const [path, body] =
      round % 2 === 0
        ? ['/v1/bookings', { user_id, listing_id, room_type_id, ...stay }]
        : ['/v1/users', { ...user, email: `round-${round}@example.com` }]
    const headers = { 'idempotency-key': `round-${round}` }
    const send = (index: number) =>
      sender(fetch, processes[index % 2]?.url)('POST', path as string, { key: actor.key, headers, body })
    const running = Array.from({ length: atOnce }, (_, index) => send(index))
    const resume = await replicas.freezeSecondaries()
    await Bun.sleep(Math.random() * 400)
    await resume()
    const responses = await Promise.all(running)
    // Repeats requests that waited too long and failed with `Retry-After`.
    const again = await Promise.all(
      responses.map((response, at) => (response.headers.has('retry-after') ? send(at) : response)),
    )
    const statuses = [...new Set(again.map(({ status }) => status))]
    outcomes.push({ statuses, bodies: new Set(again.map(({ text }) => text)).size })
  }
  expect(outcomes).toEqual(Array(rounds).fill({ statuses: [201], bodies: 1 }))
})

import { expect, test } from 'vitest'
import { seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { partnerctl, type ServiceProcess, startService } from '../../support/processes.ts'

const url = await ownDatabase()
const oldSecret = 'the old secret of this database yes'
const newSecret = 'the new secret of this database yes'
const observer = await testApp({ MONGODB_URL: url, SECRET_KEY: oldSecret })
const actor = await observer.actor({ rateLimit: 1_000_000 })
const { user_id, listing_id, room_type_id } = await seedBooking(actor)
const body = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
const providerKey = { provider_api_key: `key-of-${actor.hostId}` }
await actor.send('POST', '/v1/integrations/provider_one/provider-key', { body: providerKey })

const environmentOf = (secrets: Record<string, string>) => testEnvironment({ MONGODB_URL: url, ...secrets })
const start = (secrets: Record<string, string>) => startService(environmentOf(secrets))

/** Creates a booking at one process and repeats the request at the other; both must respond with the same booking. */
async function retryAcross([one, other]: ServiceProcess[]): Promise<void> {
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as [ServiceProcess, ServiceProcess][]) {
    const request = { key: actor.key, headers: { 'idempotency-key': crypto.randomUUID() }, body }
    const created = await sender(fetch, first.url)('POST', '/v1/bookings', request)
    const repeated = await sender(fetch, second.url)('POST', '/v1/bookings', request)
    expect(created.status).toBe(201)
    expect(repeated).toMatchObject({ status: 201, text: created.text })
  }
}

/** Starts a service that must refuse these secrets, and returns its output. */
const refusal = (secrets: Record<string, string>) =>
  start(secrets).then(
    (service) => service.stop().then(() => 'It started'),
    (error: Error) => error.message.split('\n').slice(1).join('\n'),
  )
const wrong = /^Cannot start: SECRET_KEY is not the secret of this database: [^\n]*\n$/

test('a secret is rotated over several processes, one after the other, and no retry is refused', async () => {
  const steps = [
    { SECRET_KEY: oldSecret, OTHER_SECRET_KEYS: newSecret },
    { SECRET_KEY: newSecret, OTHER_SECRET_KEYS: oldSecret },
  ]
  const processes = await Promise.all([1, 2].map(() => start({ SECRET_KEY: oldSecret })))
  for (const step of steps)
    for (const index of [0, 1]) {
      await processes[index]?.stop()
      processes[index] = await start(step)
      await retryAcross(processes)
    }
  const rotated = await partnerctl(
    ['secrets', 'rotate', '--json'],
    environmentOf(steps[1] as Record<string, string>),
  )
  expect(JSON.parse(rotated.stdout)).toEqual({ reencrypted: 1 })
  await retryAcross(processes)
  await processes[0]?.stop()
  processes[0] = await start({ SECRET_KEY: newSecret })
  // Both processes know the new secret, and new responses are sealed with it.
  await retryAcross(processes)
  const again = { key: actor.key, body: providerKey }
  const { url: of } = processes[0] as ServiceProcess
  const kept = await sender(fetch, of)('POST', '/v1/integrations/provider_one/provider-key', again)
  expect({ status: kept.status, keyStatus: kept.body.data.status }).toEqual({
    status: 200,
    keyStatus: 'unchanged',
  })
  await Promise.all(processes.map((service) => service.stop()))

  expect(await refusal({ SECRET_KEY: oldSecret })).toMatch(wrong)
  expect(await refusal({ SECRET_KEY: 'a secret of some other database no' })).toMatch(wrong)
  expect(await refusal({})).toBe(
    'Cannot start: SECRET_KEY is not set, but this database was used with one: set SECRET_KEY to that secret\n',
  )
})

test('a database that was used without a secret accepts one and goes on without the development secret', async () => {
  const MONGODB_URL = await ownDatabase()
  const before = await testApp({ MONGODB_URL })
  const host = await before.actor()
  const path = '/v1/integrations/provider_one/provider-key'
  await host.send('POST', path, { body: providerKey })
  const after = await testApp({ MONGODB_URL, SECRET_KEY: newSecret })
  const again = { key: host.key, body: providerKey }
  expect((await after.send('POST', path, again)).body.data.status).toBe('unchanged')
  const environment = testEnvironment({ MONGODB_URL, SECRET_KEY: newSecret })
  expect(JSON.parse((await partnerctl(['secrets', 'rotate', '--json'], environment)).stdout)).toEqual({
    reencrypted: 1,
  })
  expect((await after.send('POST', path, again)).body.data.status).toBe('unchanged')
})

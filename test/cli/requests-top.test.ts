import { expect, test } from 'vitest'
import { partnerctlHere } from '../support/admin.ts'
import { testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'

const MONGODB_URL = await ownDatabase()
const settings = { MONGODB_URL, TRUSTED_PROXIES: '127.0.0.1', AUTH_FAILURES_PER_MINUTE: '5' }
let offset = 0
const service = await testApp(settings, () => new Date(Date.now() + offset))
const busy = await service.actor()
const calm = await service.actor({ rateLimit: 3 })

const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

async function top(...args: string[]) {
  const { code, stdout, stderr } = await partnerctlHere(['requests', 'top', ...args, '--json'], {
    MONGODB_URL,
  })
  expect(code).toBe(0)
  return { rows: JSON.parse(stdout), stderr }
}

test('requests top ranks keys, hosts, addresses and routes, and counts failed authentications by address', async () => {
  offset = -3 * 3_600_000
  await busy.send('GET', '/v1/me', from('192.0.2.1'))
  await service.logged()
  offset = 0
  for (let count = 0; count < 5; count += 1) {
    await busy.send('GET', `/v1/listings/${count + 1}`, from('203.0.113.7:4711'))
    await calm.send('GET', '/v1/me', from('2001:db8::7'))
  }
  await busy.send('GET', '/v1/me', from('203.0.113.7'))
  // A 401 that a fault injects does not count as a failed authentication.
  const rules = [{ fault: 'unauthorized', operation: 'listUsers' }]
  await busy.send('PUT', '/sandbox/faults', { body: { rules }, ...from('203.0.113.7') })
  const injected = await busy.send('GET', '/sandbox/users', from('203.0.113.7'))
  expect(injected.status).toBe(401)
  const consumer = '/v1/integrations/provider_one/bookings/consumers'
  for (const name of ['one', 'two']) await busy.send('DELETE', `${consumer}/${name}`, from('203.0.113.7'))
  for (let count = 0; count < 8; count += 1)
    await service.send('GET', '/v1/me', { key: `wrong-${count}`, ...from('198.51.100.9') })
  await service.send('GET', '/v1/me', { key: null, ...from('2001:db8::8') })
  await service.logged()

  const none = { failed: 0, unanswered: 0, failed_authentications: 0 }
  const keys = await top()
  expect(keys.stderr).toBe('')
  const busyRow = { ...none, requests: 8, succeeded: 2, refused: 6, limited: 0 }
  const calmRow = { ...none, requests: 5, succeeded: 3, refused: 0, limited: 2 }
  expect(keys.rows).toEqual([
    { name: busy.keyId, of: expect.stringMatching(`\\(host ${busy.hostId}\\)$`), ...busyRow },
    { name: calm.keyId, of: expect.stringMatching(`\\(host ${calm.hostId}\\)$`), ...calmRow },
  ])
  expect((await top('--by', 'host', '--limit', '1')).rows).toEqual([
    { name: busy.hostId, of: expect.stringContaining('@'), ...busyRow },
  ])
  expect((await top('--since', '24h', '--limit', '1')).rows[0].requests).toBe(9)

  const addresses = await top('--by', 'address')
  expect(addresses.stderr).toContain('keeps only the last 1,000 successes')
  const ofAddress = (name: string, requests: number, failed_authentications: number) =>
    expect.objectContaining({ name, requests, failed_authentications })
  expect(addresses.rows).toEqual([
    ofAddress('203.0.113.7', 10, 0),
    ofAddress('198.51.100.9', 0, 8),
    ofAddress('2001:db8:0:0::/64', 5, 1),
  ])
  const routes = await top('--by', 'route')
  expect(routes.rows).toMatchObject([
    { name: 'GET /v1/me', requests: 6 },
    { name: 'GET /v1/listings/:id', requests: 5 },
    { name: 'DELETE /v1/integrations/provider_one/bookings/consumers/:name', requests: 2 },
    { name: 'GET /sandbox/users', requests: 1 },
    { name: 'PUT /sandbox/faults', requests: 1 },
  ])
})

test.each([
  [['--by', 'user'], '"user" is not one of key, host, address, route'],
  [['--since', '25h'], 'Option --since takes at most 24h'],
  [['--since', 'today'], '"today" is not a valid duration'],
])('requests top %j is wrong usage', async (args, message) => {
  const { code, stderr } = await partnerctlHere(['requests', 'top', ...args], { MONGODB_URL })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) })
})

import { BlockList } from 'node:net'
import { expect, test } from 'vitest'
import { createApiKey } from '../../../src/access/keys/secret.ts'
import { findKey } from '../../../src/access/keys/store.ts'
import { ConfigError, readConfig } from '../../../src/core/config.ts'
import { clientAddress, clientNetwork } from '../../../src/http/input/client-address.ts'
import { type Actor, testApp } from '../../support/app.ts'
import { rotateKey } from '../../support/keys.ts'

const proxied = await testApp({ TRUSTED_PROXIES: '127.0.0.1' })

test.each(['10.0.0.0/', '10.0.0.0/x', '10.0.0.0/33', '10.0.0.0/ 8', '/8', 'proxy'])(
  'readConfig() throws for TRUSTED_PROXIES=%s',
  (networks) => {
    expect(() => readConfig({ TRUSTED_PROXIES: networks })).toThrow(ConfigError)
  },
)

test('TRUSTED_PROXIES trusts only the networks it names', () => {
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1 2001:db8::/32' })
  const headers = new Headers({ 'x-forwarded-for': '203.0.113.9' })
  const of = (socket: string) => clientAddress(socket, headers, trustedProxies)
  expect(['10.1.2.3', '192.0.2.1', '2001:db8::5'].map(of)).toEqual(Array(3).fill('203.0.113.9'))
  expect(['11.1.2.3', '192.0.2.2'].map(of)).toEqual(['11.1.2.3', '192.0.2.2'])
  expect(clientAddress('10.1.2.3', headers, new BlockList())).toBe('10.1.2.3')
})

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::ffff:cb00:7108', '203.0.113.8'],
])('clientNetwork(%j) returns %s', (address, network) => {
  expect(clientNetwork(address)).toBe(network)
})

test.each([
  ['203.0.113.8', '203.0.113.8'],
  ['::ffff:203.0.113.8', '203.0.113.8'],
  ['::FFFF:203.0.113.8', '203.0.113.8'],
  ['::ffff:cb00:7108', '203.0.113.8'],
  ['0:0:0:0:0:ffff:cb00:7108', '203.0.113.8'],
  ['0000:0000:0000:0000:0000:FFFF:CB00:7108', '203.0.113.8'],
  ['[::ffff:cb00:7108]:443', '203.0.113.8'],
  ['2001:0DB8:0:0:0:0:0:1', '2001:db8::1'],
  ['[2001:DB8::A]:443', '2001:db8::a'],
  ['fe80::1%eth-0', 'fe80::1'],
  ['203.0.113.8%eth0', 'unknown'],
  ['0xcb.0.113.8', 'unknown'],
])('an address sent as %s is stored as %s everywhere', async (sent, stored) => {
  const actor = await proxied.actor()
  const body = { email: 'ip@example.com', first_name: 'Ann', last_name: 'Poe' }
  const headers = { 'x-forwarded-for': sent }
  const created = await actor.send('POST', '/v1/users', { body, headers })
  await proxied.logged()
  await proxied.live.usage.flush()
  const { addresses } = await findKey(proxied.live.db, String(actor.keyId))
  const logged = await actor.send('GET', '/v1/requests')
  expect({
    login_ip: created.body.data.login_ip,
    requests: logged.body.data.map(({ address }: { address: string }) => address),
    usage: addresses.map(({ address }) => address),
  }).toEqual({ login_ip: stored, requests: [stored], usage: [stored] })
})

test('clients that a proxy names in a mapped form have separate limits, and each has one limit', async () => {
  const strict = await testApp({ AUTH_FAILURES_PER_MINUTE: '2', TRUSTED_PROXIES: '127.0.0.1' })
  const high = 100 + (Date.now() % 100)
  const low = Date.now() % 250
  const hex = (number: number) => number.toString(16).padStart(2, '0')
  const fail = async (address: string) =>
    (await strict.send('GET', '/v1/me', { headers: { 'x-forwarded-for': address } })).status
  const one = [`198.18.${high}.${low}`, `::ffff:198.18.${high}.${low}`, `::ffff:c612:${hex(high)}${hex(low)}`]
  const statuses = [await fail(one[0] as string), await fail(one[1] as string), await fail(one[2] as string)]
  const other = await fail(`::ffff:c613:${hex(high)}${hex(low)}`)
  expect({ statuses, other }).toEqual({ statuses: [401, 401, 429], other: 401 })
})

test('TRUSTED_PROXIES may name a proxy in a mapped form', () => {
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: '::ffff:10.0.0.0/104 ::ffff:c000:0201' })
  const headers = new Headers({ 'x-forwarded-for': '203.0.113.9' })
  const of = (socket: string) => clientAddress(socket, headers, trustedProxies)
  expect(['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.1'].map(of)).toEqual(Array(3).fill('203.0.113.9'))
  expect(of('192.0.2.2')).toBe('192.0.2.2')
})

test('unknown keys count against the whole /64 network of an IPv6 client', async () => {
  const strict = await testApp({ AUTH_FAILURES_PER_MINUTE: '3', TRUSTED_PROXIES: '127.0.0.1' })
  const net = `2001:db8:${(Date.now() % 65_000).toString(16)}:7`
  const statuses: number[] = []
  for (let host = 1; host <= 5; host += 1) {
    const headers = { 'x-forwarded-for': `${net}::${host}` }
    statuses.push((await strict.send('GET', '/v1/me', { headers })).status)
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429])
})

test('unknown keys beyond the failure limit rarely reach the database, and a known key still works', async () => {
  const strict = await testApp({ AUTH_FAILURES_PER_MINUTE: '5', TRUSTED_PROXIES: '127.0.0.1' })
  const actor = await strict.actor()
  const headers = { 'x-forwarded-for': `198.51.100.${Date.now() % 250}` }
  expect((await strict.send('GET', '/v1/me', { key: actor.key, headers })).status).toBe(200)
  let reads = 0
  strict.live.db.set('debug', (collection: string, method: string) => {
    if (collection === 'keys' && method === 'findOne') reads += 1
  })
  const unknown = 200
  for (let count = 0; count < unknown; count += 1)
    await strict.send('GET', '/v1/me', { key: createApiKey(), headers })
  // The limit for failures allows ten more look-ups every second.
  expect(reads).toBeGreaterThan(0)
  expect(reads).toBeLessThan(unknown)
  expect((await strict.send('GET', '/v1/me', { key: actor.key, headers })).status).toBe(200)
})

test('a valid key is never called invalid, even if many keys send many first requests together', async () => {
  const fresh = await testApp({ AUTH_FAILURES_PER_MINUTE: '20', TRUSTED_PROXIES: '127.0.0.1' })
  const headers = { 'x-forwarded-for': `203.0.113.${Date.now() % 250}` }
  const [actor, ...others] = await Promise.all(Array.from({ length: 60 }, () => fresh.actor()))
  const ask = async (key: string) => {
    const { status, headers: answered } = await fresh.send('GET', '/v1/me', { key, headers })
    return [status, answered.get('retry-after')]
  }
  const first = await Promise.all(Array.from({ length: 200 }, () => ask((actor as Actor).key)))
  expect(new Set(first.map(String))).toEqual(new Set(['200,']))
  const known = await Promise.all(others.map(({ key }) => ask(key)))
  expect(known.filter(([status]) => status === 200).length).toBeGreaterThanOrEqual(20)
  expect(known.filter(([status]) => status !== 200).map(String)).toEqual(
    known.filter(([status]) => status !== 200).map(() => '429,1'),
  )
  // None of these 429 responses counts as a failure, so the next key is looked up.
  expect(await ask((await fresh.actor()).key)).toEqual([200, null])
})

test('a mistyped key is refused without a look-up, and an unknown key after one', async () => {
  const apart = await testApp({ LOG_LEVEL: 'silent' })
  let reads = 0
  apart.live.db.set('debug', (collection: string, method: string) => {
    if (collection === 'keys' && method === 'findOne') reads += 1
  })
  const key = createApiKey()
  const mistyped = key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a')
  expect((await apart.send('GET', '/v1/me', { key: mistyped })).status).toBe(401)
  expect(reads).toBe(0)
  expect((await apart.send('GET', '/v1/me', { key })).status).toBe(401)
  expect(reads).toBe(1)
})

test('concurrent rotations of one key keep all of its secrets valid', async () => {
  const service = await testApp()
  const { db, clock } = service.live
  const actor = await service.actor()
  const rotations = await Promise.all(
    Array.from({ length: 5 }, () => rotateKey(db, clock, String(actor.keyId), 3600)),
  )
  for (const key of [actor.key, ...rotations.map((rotation) => rotation.key)])
    expect((await service.send('GET', '/v1/me', { key })).status).toBe(200)
})

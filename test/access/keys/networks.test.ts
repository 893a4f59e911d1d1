import { expect, test } from 'vitest'
import { rateLimitName } from '../../../src/access/keys/authorizer.ts'
import { keyModel } from '../../../src/access/keys/model.ts'
import { updateKey } from '../../../src/access/keys/store.ts'
import { parseNetwork } from '../../../src/http/input/client-address.ts'
import { sandboxDatabase } from '../../../src/sandbox/store.ts'
import { type Actor, testApp } from '../../support/app.ts'

const service = await testApp({ TRUSTED_PROXIES: '127.0.0.1' })

async function limit({ keyId }: Actor, ...networks: string[]) {
  await updateKey(service.live.db, String(keyId), { allowed_from: networks })
  await service.live.rateLimiter.invalidate(rateLimitName(keyId))
}

/** Sends a request as a client with the given address. */
const from = (actor: Actor, address: string, method = 'GET', path = '/v1/me') =>
  actor.send(method, path, { headers: { 'x-forwarded-for': address } })

const notFrom = (address: string) => ({
  type: 'forbidden',
  message: 'The API key is not accepted from this address',
  request_id: expect.any(String),
  errors: [{ path: 'client_address', code: 'forbidden', message: address }],
})

test('a key is accepted only from its networks, and GET /v1/key lists them', async () => {
  const actor = await service.actor()
  expect((await actor.send('GET', '/v1/key')).body.data.allowed_from).toEqual([])
  await limit(actor, '203.0.113.0/24', '198.51.100.7/32', '2001:db8:12::/48')
  for (const address of ['203.0.113.255', '198.51.100.7', '::ffff:203.0.113.9', '2001:db8:12:ffff::1'])
    expect((await from(actor, address)).status).toBe(200)
  for (const address of ['::ffff:cb00:7109', '0:0:0:0:0:FFFF:CB00:7109', '2001:DB8:12::1'])
    expect((await from(actor, address)).status).toBe(200)
  for (const address of ['203.0.114.0', '198.51.100.8', '2001:db8:13::', '::1']) {
    const { status, body } = await from(actor, address)
    expect({ status, error: body.error }).toEqual({ status: 403, error: notFrom(address) })
  }
  expect((await from(actor, '::ffff:cb00:7200')).body.error).toEqual(notFrom('203.0.114.0'))
  const { body } = await from(actor, '203.0.113.1', 'GET', '/v1/key')
  expect(body.data.allowed_from).toEqual(['203.0.113.0/24', '198.51.100.7/32', '2001:db8:12::/48'])
  expect((await from(actor, '192.0.2.1', 'GET', '/v1/key')).status).toBe(403)
  await limit(actor)
  expect((await from(actor, '192.0.2.1')).status).toBe(200)
})

test('a hop with a port is its address, and a hop that is not an address is in no network, not even that of the proxy', async () => {
  const actor = await service.actor()
  await limit(actor, '127.0.0.0/8', '0.0.0.0/0', '::/0')
  expect((await actor.send('GET', '/v1/me')).status).toBe(200)
  for (const address of ['unknown', '_hidden', '203.0.113.7:x', '[203.0.113', '[]:443', '', '203.0.113.7, '])
    expect((await from(actor, address)).body.error).toEqual(notFrom('unknown'))
  await limit(actor, '127.0.0.1/32')
  for (const [hop, address] of [
    ['203.0.113.7:4711', '203.0.113.7'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[::ffff:203.0.113.7]:443, 127.0.0.1:80', '203.0.113.7'],
  ] as const)
    expect((await from(actor, hop)).body.error).toEqual(notFrom(address))
  await limit(actor, '203.0.113.7/32', '2001:db8::/64')
  for (const hop of ['203.0.113.7:4711', '[2001:db8::1]:443'])
    expect((await from(actor, hop)).status).toBe(200)
})

test('a key stored by a release without networks is accepted from anywhere', async () => {
  const actor = await service.actor()
  await keyModel(service.live.db).collection.updateOne({ id: actor.keyId }, { $unset: { allowed_from: 1 } })
  expect((await from(actor, '192.0.2.1', 'GET', '/v1/key')).body.data.allowed_from).toEqual([])
})

test('the network is checked after the rate limit and before the permission, the body and the sandbox', async () => {
  const actor = await service.actor({ permissions: [], rateLimit: 2 })
  await limit(actor, '203.0.113.0/24')
  const create = (path: string) =>
    actor.send('POST', path, { headers: { 'x-forwarded-for': '192.0.2.1' }, body: { email: 7 } })
  for (const path of ['/v1/users', '/sandbox/users']) {
    const { status, body } = await create(path)
    expect({ status, error: body.error }).toEqual({ status: 403, error: notFrom('192.0.2.1') })
  }
  expect((await create('/v1/users')).status).toBe(429)
  const sandboxes = sandboxDatabase(service.live.db).collection('sandboxes')
  expect(await sandboxes.countDocuments({ key_id: actor.keyId })).toBe(0)
})

test('a held request is refused if its network is removed from the key in the meantime', async () => {
  const actor = await service.actor()
  await limit(actor, '203.0.113.0/24')
  const feed = '/v1/integrations/provider_one/bookings?wait=2&updated_after=2020-01-01%2000:00:00'
  const waiting = from(actor, '203.0.113.9', 'GET', feed)
  await expect.poll(() => service.live.heldRequests.size).toBe(1)
  await limit(actor, '203.0.113.0/29')
  const { status, body } = await waiting
  expect({ status, error: body.error }).toEqual({ status: 403, error: notFrom('203.0.113.9') })
})

test.each([
  ['203.0.113.0/24', '203.0.113.0/24'],
  ['203.0.113.7', '203.0.113.7/32'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['2001:0DB8:12::/48', '2001:db8:12::/48'],
  ['2001:db8::7', '2001:db8::7/128'],
  ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
  ['::ffff:10.0.0.7', '10.0.0.7/32'],
])('parseNetwork(%j) returns %s', (text, network) => {
  expect(parseNetwork(text)).toBe(network)
})

test.each([
  '203.0.113.7/24',
  '2001:db8::7/32',
  '::ffff:10.0.0.0/95',
  '203.0.113.0/33',
  '203.0.113.0/024',
  '10.1',
  '0x7f.0.0.1',
  '10.0.0.0/',
  '/8',
  '10.0.0.0/8/8',
  'fe80::1%eth0',
  'host.example.com',
  '',
])('parseNetwork(%j) returns null', (text) => {
  expect(parseNetwork(text)).toBeNull()
})

import { expect, test } from 'vitest'
import { readNetworks } from '../../cli/admin/key-options.ts'
import { UsageError } from '../../cli/shared/errors.ts'
import { findBookingOfAnyHost } from '../../src/stays/bookings/store.ts'
import { transitionBooking } from '../../src/stays/bookings/transitions.ts'
import { admin, administrator, adminJson, mintByCommand } from '../support/admin.ts'
import { seedBooking, sender, sharedServices, testApp } from '../support/app.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [{ url }] = sharedServices()
const feed = '/v1/integrations/provider_one/bookings'
/** Sends requests to a separate process, which keeps keys in memory. */
const send = sender(fetch, url)

const statusOf = async (key: string, path = '/v1/me') => {
  const { status, body } = await send('GET', path, { key })
  return { status, message: body.error?.message }
}

/** Returns the audit entries about a target that no other test uses, latest first. */
async function actionsOn(target: string) {
  const entries = await adminJson('audit', 'list', '--limit', '1000')
  return entries.filter((entry: { target: string }) => entry.target === target)
}

test('partnerctl keys update changes name, permissions, limit and expiry, at the next request', async () => {
  const { id, key } = await mintByCommand()
  expect((await statusOf(key, '/v1/listings')).status).toBe(403)
  const change = ['--name', 'Renamed', '--permission', 'listings.read', '--rate-limit', '7']
  const updated = await adminJson('keys', 'update', String(id), ...change, '--expires', '2099-01-01')
  expect(updated).toMatchObject({
    id,
    name: 'Renamed',
    permissions: ['listings.read'],
    rate_limit: 7,
    status: 'active',
    expires_at: '2099-01-01T23:59:59.999000Z',
  })
  expect((await statusOf(key, '/v1/listings')).status).toBe(200)
  const lasting = await adminJson(
    'keys',
    'update',
    String(id),
    '--expires',
    'never',
    '--rate-limit',
    'default',
  )
  expect(lasting).toMatchObject({ name: 'Renamed', expires_at: null, rate_limit: null })
  for (const wrong of [
    [],
    ['--expires', '2020-01-01'],
    ['--permission', 'everything'],
    ['--name', ' '],
    ['--rate-limit', '0'],
  ])
    expect({ wrong, code: (await admin('keys', 'update', String(id), ...wrong)).code }).toEqual({
      wrong,
      code: 2,
    })
  await adminJson('keys', 'revoke', String(id))
  expect((await admin('keys', 'update', String(id), '--name', 'x')).code).toBe(1)
})

test('partnerctl keys mint and update limit a key to networks, and "anywhere" lifts the limit', async () => {
  const { id, key, allowed_from } = await mintByCommand('--allow-from', '203.0.113.0/24')
  expect(allowed_from).toEqual(['203.0.113.0/24'])
  expect((await statusOf(key)).status).toBe(403)
  const update = (networks: string) => admin('keys', 'update', String(id), '--allow-from', networks)
  expect((await update('192.0.2.1/24')).code).toBe(2)
  expect(JSON.parse((await update('anywhere')).stdout).allowed_from).toEqual([])
  expect((await statusOf(key)).status).toBe(200)
})

test('--allow-from takes up to 20 different networks, addresses, or anywhere', () => {
  const many = Array.from({ length: 21 }, (_, index) => `192.0.2.${index}`)
  expect(readNetworks('203.0.113.0/24, 2001:DB8::7,203.0.113.0/24')).toEqual([
    '203.0.113.0/24',
    '2001:db8::7/128',
  ])
  expect(readNetworks(many.slice(1).join())).toHaveLength(20)
  for (const wrong of ['192.0.2.1/24', '192.0.2.0/24,', 'somewhere', '192.0.2.1,anywhere', many.join()])
    expect(() => readNetworks(wrong)).toThrow(UsageError)
})

test('an expiry in the past is refused: the key could never be used', async () => {
  const args = ['--host', '1', '--name', 'k', '--permission', 'users.read', '--expires', '2020-01-01']
  const { code, stderr } = await admin('keys', 'mint', ...args)
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('in the past') })
})

test('partnerctl hosts suspend has all keys of a host refused until it is resumed, and turns its webhooks off', async () => {
  const permission = ['--permission', 'bookings.read']
  const { host_id, key } = await mintByCommand(...permission)
  const webhook = { url: 'https://hooks.example.com/', events: ['booking.changed'] }
  const { id } = (await send('POST', '/v1/webhooks', { key, body: webhook })).body.data
  expect((await statusOf(key)).status).toBe(200)
  const suspended = await adminJson(
    'hosts',
    'suspend',
    String(host_id),
    '--reason',
    'Contract ended',
    '--yes',
  )
  expect(suspended.suspended_at).not.toBeNull()
  expect(await statusOf(key)).toEqual({ status: 401, message: 'API key is inactive' })
  const args = ['--host', String(host_id), '--name', 'k2', ...permission]
  const { id: anotherId, key: another } = await adminJson('keys', 'mint', ...args)
  expect(await statusOf(another)).toEqual({ status: 401, message: 'API key is inactive' })
  expect((await adminJson('keys', 'show', String(anotherId))).status).toBe('inactive')
  const again = await adminJson('hosts', 'suspend', String(host_id), '--yes')
  expect(again.suspended_at).toBe(suspended.suspended_at)
  expect(await adminJson('hosts', 'resume', String(host_id))).toMatchObject({ suspended_at: null })
  expect((await statusOf(another)).status).toBe(200)
  const found = await send('GET', `/v1/webhooks/${id}`, { key })
  expect(found.body.data).toMatchObject({ enabled: false, disabled_reason: 'key_ended' })
  const actions = await actionsOn(`host ${host_id}`)
  expect(actions).toMatchObject([
    { action: 'hosts resume', reason: null },
    { action: 'hosts suspend', reason: null },
    { action: 'keys mint', reason: null },
    { action: 'hosts suspend', reason: 'Contract ended' },
    { action: 'keys mint', reason: null },
  ])
})

test('a request is refused if its host is suspended while the request is held', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const { body } = await actor.send('GET', feed)
  const after = encodeURIComponent(body.data.Bookings.at(-1).version)
  const held = send('GET', `${feed}?updated_after=${after}&wait=30`, { key: actor.key })
  await adminJson('hosts', 'suspend', String(actor.hostId), '--yes')
  // A change ends the wait at once.
  const { db, clock } = service.live
  const booking = await findBookingOfAnyHost(db, booking_id)
  await transitionBooking({ db, clock }, booking, { to: 'confirmed' })
  expect((await held).status).toBe(401)
})

test('partnerctl hosts update changes name and address, and refuses the address of another host', async () => {
  const one = await mintByCommand()
  const other = await mintByCommand()
  const email = `${crypto.randomUUID()}@example.com`
  const updated = await adminJson('hosts', 'update', String(one.host_id), '--name', 'New', '--email', email)
  expect(updated).toMatchObject({ id: one.host_id, name: 'New', email })
  expect((await send('GET', '/v1/me', { key: one.key })).body.data).toMatchObject({ name: 'New', email })
  expect((await admin('hosts', 'update', String(other.host_id), '--email', email.toUpperCase())).code).toBe(1)
  expect((await admin('hosts', 'update', String(other.host_id))).code).toBe(2)
})

test('the audit names the effective user regardless of the environment, and the user who ran sudo', async () => {
  const { id } = await mintByCommand()
  const { stdout } = Bun.spawnSync(['id', '-un'])
  for (const environment of [{ USER: '', LOGNAME: '' }, { USER: 'somebody' }, { SUDO_USER: 'ada' }])
    expect(
      (await partnerctl(['keys', 'activate', String(id)], { ...administrator(), ...environment })).code,
    ).toBe(0)
  const actions = await actionsOn(`key ${id}`)
  const user = stdout.toString().trim()
  expect(actions).toMatchObject([
    { user, sudo_user: 'ada', database_user: null },
    { user, sudo_user: null },
    { user, sudo_user: null },
  ])
})

test('every action that takes something away has its reason in the audit', async () => {
  const { id, key } = await mintByCommand('--permission', 'bookings.read')
  const webhook = { url: 'https://hooks.example.com/', events: ['booking.changed'] }
  const endpoint = (await send('POST', '/v1/webhooks', { key, body: webhook })).body.data.id
  await adminJson('webhooks', 'disable', String(endpoint), '--reason', 'Floods us')
  await adminJson('keys', 'deactivate', String(id), '--reason', 'Leaked')
  const actor = await service.actor()
  const listing = (await actor.send('POST', '/v1/listings', { body: { name: 'House' } })).body.data.id
  await adminJson('listings', 'status', String(listing), 'inactive', '--reason', 'Sold')
  for (const [target, reason] of [
    [`webhook ${endpoint}: administrator`, 'Floods us'],
    [`key ${id}`, 'Leaked'],
    [`listing ${listing} inactive`, 'Sold'],
  ] as const)
    expect(await actionsOn(target)).toMatchObject([{ reason }])
  expect((await admin('keys', 'revoke', String(id), '--reason', 'x'.repeat(1001))).code).toBe(2)
})

test('a PATCH that changes nothing in a webhook leaves no audit entry', async () => {
  const { key } = await mintByCommand('--permission', 'bookings.read')
  const webhook = { url: 'https://hooks.example.com/', events: ['booking.changed'] }
  const { id } = (await send('POST', '/v1/webhooks', { key, body: webhook })).body.data
  const patch = (body: object) => send('PATCH', `/v1/webhooks/${id}`, { key, body })
  for (const body of [{}, webhook, { enabled: true }, { enabled: false }, { enabled: false }])
    expect((await patch(body)).status).toBe(200)
  const entries = await adminJson('audit', 'list', '--limit', '1000')
  const own = entries.filter(({ target }: { target: string }) => target.startsWith(`webhook ${id}`))
  expect(own.map(({ action }: { action: string }) => action)).toEqual(['webhooks disable', 'webhooks create'])
})

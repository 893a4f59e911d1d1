import { expect, inject, test } from 'vitest'
import { parseExpiry } from '../../src/keys/store.ts'
import { seedBooking, sender, testApp, testEnvironment } from '../support/app.ts'
import { partnerctl, startService } from '../support/processes.ts'

const service = await testApp()
const environment = () => ({ MONGODB_URL: inject('mongodbUrl'), REDIS_URL: inject('redisUrl') })
const admin = (...args: string[]) => partnerctl([...args, '--json'], environment())
const json = async (...args: string[]) => JSON.parse((await admin(...args)).stdout)
const permissions = 'users.create,bookings.read'

async function mint(...more: string[]) {
  const host = await json(
    'hosts',
    'create',
    '--name',
    'Admin test',
    '--email',
    `${crypto.randomUUID()}@example.com`,
  )
  return json('keys', 'mint', '--host', String(host.id), '--name', 'k', '--permission', permissions, ...more)
}

test('partnerctl keys mint prints the key once and normalizes legacy permissions', async () => {
  const minted = await mint('--expires', '2099-12-31')
  expect(minted).toEqual({
    id: expect.any(Number),
    key: expect.stringMatching(/^pis_[0-9A-Za-z]{38}$/),
    name: 'k',
    host_id: expect.any(Number),
    permissions: ['users.write', 'bookings.read'],
    expires_at: '2099-12-31T23:59:59.999000Z',
  })
  expect((await service.send('GET', '/v1/me', { key: minted.key })).status).toBe(200)
  const shown = await admin('keys', 'show', minted.key.slice(0, 12))
  expect(JSON.parse(shown.stdout)).toMatchObject({
    id: minted.id,
    prefix: minted.key.slice(0, 12),
    status: 'active',
  })
  expect(shown.stdout).not.toContain(minted.key)
})

test('partnerctl keys deactivate, activate and revoke take effect at the next request to a warm process', async () => {
  const { id, key } = await mint()
  const process = await startService(testEnvironment())
  const send = sender(fetch, process.url)
  const status = async () => {
    const { status, body } = await send('GET', '/v1/me', { key })
    return [status, body.error?.message]
  }
  try {
    expect(await status()).toEqual([200, undefined])
    expect(await json('keys', 'deactivate', String(id))).toMatchObject({ id, status: 'inactive' })
    expect(await status()).toEqual([401, 'API key is inactive'])
    expect(await json('keys', 'activate', String(id))).toMatchObject({ id, status: 'active' })
    expect(await status()).toEqual([200, undefined])
    expect(await json('keys', 'revoke', key.slice(0, 12))).toMatchObject({ id, status: 'revoked' })
    expect(await status()).toEqual([401, 'API key is inactive'])
    const again = await admin('keys', 'activate', String(id))
    expect([again.code, again.stdout]).toEqual([1, ''])
    expect(again.stderr).toContain('revoked')
  } finally {
    await process.stop()
  }
})

test('partnerctl keys rotate keeps the old secret valid for the overlap', async () => {
  const { id, key } = await mint()
  const rotated = await json('keys', 'rotate', String(id), '--overlap', '1h')
  expect(rotated).toMatchObject({
    id,
    key: expect.stringMatching(/^pis_/),
    previous_expires_at: expect.any(String),
  })
  expect(Date.parse(rotated.previous_expires_at) - Date.now()).toBeGreaterThan(3_500_000)
  const statuses = async () =>
    Promise.all(
      [key, rotated.key].map(async (secret) => (await service.send('GET', '/v1/me', { key: secret })).status),
    )
  expect(await statuses()).toEqual([200, 200])
  const last = await json('keys', 'rotate', String(id), '--overlap', '0s')
  expect(await statuses()).toEqual([200, 401])
  const refused = await service.send('GET', '/v1/me', { key: rotated.key })
  expect(refused.body.error.message).toBe('API key has expired')
  expect((await service.send('GET', '/v1/me', { key: last.key })).status).toBe(200)
})

test.each([
  [['keys'], 2],
  [['keys', 'nonsense'], 2],
  [['keys', 'mint'], 2],
  [['keys', 'mint', '--host', '1', '--name', 'k', '--permission', 'everything'], 2],
  [['keys', 'mint', '--host', '1', '--name', 'k', '--permission', 'users.read', '--expires', 'soon'], 2],
  [['keys', 'mint', '--host', '1', '--name', 'k', '--permission', 'users.read', '--rate-limit', '0'], 2],
  [['keys', 'mint', '--host', 'nobody@example.com', '--name', 'k', '--permission', 'users.read'], 1],
  [['keys', 'show', '999999999'], 1],
  [['keys', 'list', '--mistyped'], 2],
  [['keys', 'list', 'surplus'], 2],
  [['hosts', 'create', '--name', 'X', '--email', 'no-address'], 2],
  [['hosts', 'create', '--name', 'X'], 2],
])(
  'partnerctl %j exits %i with a message on standard error and nothing on standard output',
  async (args, code) => {
    const result = await admin(...args)
    expect([result.code, result.stdout]).toEqual([code, ''])
    expect(result.stderr.trim()).not.toBe('')
    expect(result.stderr).not.toContain('    at ')
    expect(result.stderr).not.toContain('\u001b')
  },
)

test('partnerctl keys mint --expires reads a time without a zone as UTC, whatever the zone of the machine', async () => {
  const { host_id } = await mint()
  const args = ['--host', String(host_id), '--name', 'k', '--permission', permissions]
  const { stdout } = await partnerctl(
    ['keys', 'mint', ...args, '--expires', '2026-12-31T10:00:00', '--json'],
    { ...environment(), TZ: 'America/New_York' },
  )
  expect(JSON.parse(stdout).expires_at).toBe('2026-12-31T10:00:00.000000Z')
})

test.each([
  ['2026-12-31', '2026-12-31T23:59:59.999Z'],
  ['2026-12-31T10:00', '2026-12-31T10:00:00.000Z'],
  ['2026-12-31T10:00:00+02:00', '2026-12-31T08:00:00.000Z'],
])('parseExpiry(%j) returns %s', (text, moment) => {
  expect(parseExpiry(text).toISOString()).toBe(moment)
})

test.each(['2026-02-30', '2026-02-30T10:00', '2026-12-31T25:00', '2026-12-31 10:00', '31.12.2026'])(
  'parseExpiry(%j) throws',
  (text) => {
    expect(() => parseExpiry(text)).toThrow('valid')
  },
)

test('partnerctl keys list needs only the database address, even in production', async () => {
  const { MONGODB_URL } = environment()
  const { code, stdout } = await partnerctl(['keys', 'list', '--json'], {
    MONGODB_URL,
    NODE_ENV: 'production',
  })
  expect([code, Array.isArray(JSON.parse(stdout))]).toEqual([0, true])
  expect((await partnerctl(['keys', 'list'], { NODE_ENV: 'production' })).code).toBe(2)
})

test('partnerctl bookings confirm takes a reason, which the audit keeps', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const confirmed = await json('bookings', 'confirm', String(booking_id), '--reason', 'Paid in cash')
  expect(confirmed).toMatchObject({ booking_id, status: 'confirmed' })
  // Other tests act as administrators at the same time.
  const latest = await json('audit', 'list', '--limit', '50')
  expect(latest).toContainEqual(
    expect.objectContaining({ action: 'bookings confirm', target: `booking ${booking_id}: Paid in cash` }),
  )
  expect((await admin('bookings', 'cancel', String(booking_id), '--reason', 'x'.repeat(1001))).code).toBe(2)
})

test('partnerctl hosts create refuses the e-mail address of another host in any case', async () => {
  const address = `${crypto.randomUUID()}@example.com`
  await json('hosts', 'create', '--name', 'A', '--email', address)
  const again = await admin('hosts', 'create', '--name', 'B', '--email', address.toUpperCase())
  expect([again.code, again.stdout]).toEqual([1, ''])
})

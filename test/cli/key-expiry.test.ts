import { expect, test } from 'vitest'
import { parseExpiry } from '../../src/access/keys/expiry.ts'
import { admin, administrator, adminJson, mintByCommand, permissionList } from '../support/admin.ts'
import { testApp } from '../support/app.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()

test('partnerctl keys rotate keeps the old secret valid for the overlap', async () => {
  const { id, key } = await mintByCommand()
  const rotated = await adminJson('keys', 'rotate', String(id), '--overlap', '1h')
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
  const last = await adminJson('keys', 'rotate', String(id), '--overlap', '0s')
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
  [['keys', 'rotate', '1', '--overlap', '401d'], 2],
  [['keys', 'list', '--mistyped'], 2],
  [['keys', 'list', 'surplus'], 2],
  [['hosts', 'create', '--name', 'X', '--email', 'no-address'], 2],
  [['hosts', 'create', '--name', 'X'], 2],
])(
  'partnerctl %j exits %i with a message on standard error and nothing on standard output',
  async (args, code) => {
    const result = await admin(...args)
    expect(result).toMatchObject({ code, stdout: '' })
    expect(result.stderr.trim()).not.toBe('')
    expect(result.stderr).not.toContain('    at ')
    expect(result.stderr).not.toContain('\u001b')
  },
)

test('partnerctl keys mint --expires reads a time without a zone as UTC, whatever the zone of the machine', async () => {
  const { host_id } = await mintByCommand()
  const args = ['--host', String(host_id), '--name', 'k', '--permission', permissionList]
  const { stdout } = await partnerctl(
    ['keys', 'mint', ...args, '--expires', '2026-12-31T10:00:00', '--json'],
    { ...administrator(), TZ: 'America/New_York' },
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

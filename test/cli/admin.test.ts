import { expect, test } from 'vitest'
import { keyModel } from '../../src/access/keys/model.ts'
import { admin, administrator, adminJson, mintByCommand } from '../support/admin.ts'
import { seedBooking, sender, sharedServices, testApp } from '../support/app.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()

test('partnerctl keys mint prints the key once and normalizes legacy permissions', async () => {
  const minted = await mintByCommand('--expires', '2099-12-31')
  expect(minted).toEqual({
    id: expect.any(Number),
    key: expect.stringMatching(/^pis_[0-9A-Za-z]{38}$/),
    name: 'k',
    host_id: expect.any(Number),
    permissions: ['users.write', 'bookings.read'],
    expires_at: '2099-12-31T23:59:59.999000Z',
    allowed_from: [],
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

const nobody = '999999999999'
const noJob = '6561c0ffee00000000000001'

test.each([
  [['hosts', 'update', nobody, '--name', 'x'], 'No host with this id'],
  [['hosts', 'update', 'nobody@example.com', '--name', 'x'], 'No host with this e-mail address'],
  [['keys', 'show', nobody], 'No key with this id'],
  [['keys', 'show', 'pis_nobody12'], 'No key with this prefix'],
  [['requests', 'list', '--key', nobody], 'No key with this id'],
  [['bookings', 'confirm', nobody], 'No booking with this id'],
  [['conversations', 'close', nobody], 'No booking with this id'],
  [['listings', 'status', nobody, 'published'], 'No listing with this id'],
  [['webhooks', 'disable', nobody], 'No webhook with this id'],
  [['guests', 'export', '--user', nobody], 'No user with this id'],
  [['jobs', 'drop', noJob, '--yes'], 'No job with this id'],
  [['jobs', 'retry', noJob], 'No job with this id'],
  [['audit', 'list', '--after', noJob], 'No audit entry with this id'],
])('an administrator who runs partnerctl %j reads: %s', async (args, message) => {
  const { code, stderr } = await admin(...args)
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${message}\n` })
})

test('the help of guests erase says that --yes is required without a terminal', async () => {
  const { stdout } = await admin('guests', 'erase', '--help')
  expect(stdout).toContain('Do not ask for confirmation; required without a terminal')
  const refused = await admin('guests', 'erase', '--stays-ended-before', '2000-01-01')
  expect({ code: refused.code, stderr: refused.stderr.split('\n')[0] }).toEqual({
    code: 2,
    stderr: 'Erasing cannot be undone: without a terminal, --yes is required',
  })
})

test('partnerctl keys deactivate, activate and revoke take effect at the next request to a warm process', async () => {
  const { id, key } = await mintByCommand()
  const [warm] = sharedServices()
  const send = sender(fetch, warm.url)
  const status = async () => {
    const { status, body } = await send('GET', '/v1/me', { key })
    return { status, message: body.error?.message }
  }
  expect(await status()).toEqual({ status: 200, message: undefined })
  expect(await adminJson('keys', 'deactivate', String(id))).toMatchObject({ id, status: 'inactive' })
  expect(await status()).toEqual({ status: 401, message: 'API key is inactive' })
  expect(await adminJson('keys', 'activate', String(id))).toMatchObject({ id, status: 'active' })
  expect(await status()).toEqual({ status: 200, message: undefined })
  expect(await adminJson('keys', 'revoke', key.slice(0, 12))).toMatchObject({ id, status: 'revoked' })
  expect(await status()).toEqual({ status: 401, message: 'API key is inactive' })
  const again = await admin('keys', 'activate', String(id))
  expect(again).toMatchObject({ code: 1, stdout: '' })
  expect(again.stderr).toContain('revoked')
})

test('partnerctl keys list needs only the database address, even in production', async () => {
  const { MONGODB_URL } = administrator()
  const { code, stdout, stderr } = await partnerctl(['keys', 'list', '--json'], {
    MONGODB_URL,
    NODE_ENV: 'production',
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('Error') })
  expect(JSON.parse(stdout)).toBeInstanceOf(Array)
  expect((await partnerctl(['keys', 'list'], { NODE_ENV: 'production' })).code).toBe(2)
})

test('a reader that is slow gets the whole of what a command prints', async () => {
  const { key } = await mintByCommand()
  const [minted] = await keyModel(service.live.db)
    .find({ 'secrets.prefix': key.slice(0, 12) }, { _id: 0 })
    .lean()
  const name = 'k'.repeat(255)
  await keyModel(service.live.db).insertMany(
    Array.from({ length: 400 }, (_, index) => ({
      ...minted,
      id: 7_000_000 + index,
      name,
      secrets: [{ hash: `slow ${index}`, prefix: `slow ${index}`, expires_at: null }],
    })),
  )
  const child = Bun.spawn(
    [
      'sh',
      '-c',
      `"${process.execPath}" cli/main.ts keys list --after 6999999 --limit 400 --json | (sleep 2; cat)`,
    ],
    { env: { PATH: process.env.PATH ?? '', ...administrator() }, stdout: 'pipe' },
  )
  expect(JSON.parse(await new Response(child.stdout).text())).toHaveLength(400)
})

test('partnerctl bookings confirm takes a reason, which the audit keeps', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const confirmed = await adminJson('bookings', 'confirm', String(booking_id), '--reason', 'Paid in cash')
  expect(confirmed).toMatchObject({ booking_id, status: 'confirmed' })
  // Other tests write audit entries at the same time, so this entry may not be the latest.
  const latest = await adminJson('audit', 'list', '--limit', '50')
  expect(latest).toContainEqual(
    expect.objectContaining({
      action: 'bookings confirm',
      target: `booking ${booking_id}`,
      reason: 'Paid in cash',
    }),
  )
  expect((await admin('bookings', 'cancel', String(booking_id), '--reason', 'x'.repeat(1001))).code).toBe(2)
})

test('partnerctl hosts create refuses the e-mail address of another host in any case', async () => {
  const address = `${crypto.randomUUID()}@example.com`
  await adminJson('hosts', 'create', '--name', 'A', '--email', address)
  const again = await admin('hosts', 'create', '--name', 'B', '--email', address.toUpperCase())
  expect(again).toMatchObject({ code: 1, stdout: '' })
})

test('a host is one account and is found, however its e-mail address is spelled', async () => {
  const name = crypto.randomUUID()
  const shown = `${name}-Jose\u0301@Bücher.example`
  const composed = `${name}-josé@bu\u0308cher.example`
  const punycode = `${name}-JOSÉ@xn--bcher-kva.example`
  const host = await adminJson('hosts', 'create', '--name', 'A', '--email', shown)
  expect(host.email).toBe(shown.toLowerCase())
  const other = await adminJson('hosts', 'create', '--name', 'B', '--email', `${name}@example.com`)
  for (const email of [composed, punycode]) {
    const created = await admin('hosts', 'create', '--name', 'B', '--email', email)
    const updated = await admin('hosts', 'update', String(other.id), '--email', email)
    const minted = await adminJson(
      'keys',
      'mint',
      '--host',
      email,
      '--name',
      'k',
      '--permission',
      'users.read',
    )
    expect({ created: created.code, updated: updated.code, mintedFor: minted.host_id }).toEqual({
      created: 1,
      updated: 1,
      mintedFor: host.id,
    })
  }
  const malformed = await admin('hosts', 'create', '--name', 'C', '--email', 'c@1.2.3.4')
  expect({ code: malformed.code, stderr: malformed.stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('"c@1.2.3.4" is not a valid e-mail address'),
  })
})

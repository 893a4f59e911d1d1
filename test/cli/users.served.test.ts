import { expect, test } from 'vitest'
import { findKeysWith, mintKey } from '../../src/access/keys/store.ts'
import { adminJson } from '../support/admin.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [{ url }] = sharedServices()

test('partnerctl users finds a user by e-mail, lists users over several pages and shows one', async () => {
  const { key, send } = await service.actor()
  for (let at = 1; at <= 3; at += 1)
    await send('POST', '/v1/users', {
      body: { email: `u${at}@example.com`, first_name: 'User', last_name: `No ${at}` },
    })
  const run = (...args: string[]) =>
    partnerctl(['users', ...args], { PARTNER_BASE_URL: url, PARTNER_API_KEY: key })
  const [found] = JSON.parse((await run('list', '--email', 'U2@example.com', '--json')).stdout)
  expect(found).toMatchObject({ email: 'u2@example.com', erased_at: null })
  const shown = await run('get', String(found.user_id))
  expect(shown.stdout).toMatch(/^email +u2@example\.com$/m)
  expect(JSON.parse((await run('get', String(found.user_id), '--json')).stdout)).toEqual(found)
  const cut = await run('list', '--limit', '2')
  expect(cut.stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^ID +NAME +EMAIL +CREATED$/),
    expect.stringContaining('u1@example.com'),
    expect.stringContaining('u2@example.com'),
  ])
  expect(cut.stderr).toContain('more than 2; raise --limit')
  expect(JSON.parse((await run('list', '--sandbox', '--json')).stdout)).toMatchObject([
    { user_id: 1001 },
    { user_id: 1002 },
  ])
  expect((await run('get', '999999999')).code).toBe(1)
  expect((await run('get', 'x')).code).toBe(2)
  expect((await run('list', '--email', '')).code).toBe(2)
})

test('partnerctl users list --erased-after lists the erased by the time of their erasure, and nobody else', async () => {
  const { key, send } = await service.actor()
  const ids: number[] = []
  for (let at = 1; at <= 3; at += 1) {
    const body = { email: `e${at}@example.com`, first_name: 'User' }
    ids.push((await send('POST', '/v1/users', { body })).body.data.user_id)
  }
  for (const id of ids.slice(1).reverse()) await adminJson('guests', 'erase', '--user', String(id), '--yes')
  const run = (...args: string[]) =>
    partnerctl(['users', 'list', '--erased-after', ...args], { PARTNER_BASE_URL: url, PARTNER_API_KEY: key })
  const table = await run('1970-01-01T00:00:00.000000Z')
  expect(table.stdout.trim().split('\n')).toEqual([
    expect.stringMatching(/^ID +ERASED +CREATED$/),
    expect.stringMatching(`^${ids[2]} `),
    expect.stringMatching(`^${ids[1]} `),
  ])
  const [first] = JSON.parse((await run('1970-01-01T00:00:00.000000Z', '--json')).stdout)
  expect(JSON.parse((await run(first.erased_at, '--json')).stdout)).toMatchObject([{ user_id: ids[1] }])
  expect((await run('yesterday')).code).toBe(2)
})

test('db check lists the keys that can read users', async () => {
  const { hostId } = await service.actor({ permissions: [] })
  const name = `Reader ${crypto.randomUUID()}`
  const reader = { host: hostId, name, permissions: ['users.read' as const] }
  const { db, clock } = service.live
  await mintKey(db, clock, { ...reader, name: 'Expired', expiresAt: new Date(0) })
  await mintKey(db, clock, reader)
  const keys = (await findKeysWith(db, 'users.read', new Date())).filter(({ host_id }) => host_id === hostId)
  expect(keys.map((key) => key.name)).toEqual([name])
  const findings: { check: string; state: string; detail: string }[] = await adminJson('db', 'check')
  expect(findings.find(({ check }) => check === 'keys with users.read')).toMatchObject({
    state: 'ok',
    detail: expect.stringMatching(/^\d+ ".+" of host \d+/),
  })
})

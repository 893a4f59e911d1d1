import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mintKey } from '../../src/access/keys/store.ts'
import { permissions } from '../../src/http/permissions.ts'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { rotateKey } from '../support/keys.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const { db, clock } = service.live
const [server] = sharedServices()

async function home() {
  const folder = await mkdtemp(join(tmpdir(), 'partner-accounts-'))
  return {
    folder,
    async poll(key: string, ...args: string[]) {
      const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: key, XDG_STATE_HOME: folder }
      const result = await partnerctl(['feed', 'poll', '--once', '--output', 'ndjson', ...args], environment)
      const ids = result.stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).booking_id as number)
      return { ...result, ids }
    },
  }
}

test("polls with keys of two hosts in one home directory each see their own host's changes, whichever key they use", async () => {
  const { poll } = await home()
  const one = await service.actor()
  const other = await service.actor()
  const older = await seedBooking(other)
  const newer = await seedBooking(one)
  const second = await mintKey(db, clock, { host: one.hostId, name: 'Second', permissions: [...permissions] })
  expect((await poll(one.key)).ids).toEqual([newer.booking_id])
  expect((await poll(other.key)).ids).toEqual([older.booking_id])
  expect((await poll(one.key)).ids).toEqual([])
  expect((await poll(second.key)).ids).toEqual([])
  const rotated = await rotateKey(db, clock, String(one.keyId), 3600)
  expect((await poll(rotated.key)).ids).toEqual([])
})

test('each key has its own checkpoint in the sandbox, which survives a rotation', async () => {
  const { poll } = await home()
  const actor = await service.actor()
  const second = await mintKey(db, clock, {
    host: actor.hostId,
    name: 'Second',
    permissions: [...permissions],
  })
  expect((await poll(actor.key, '--sandbox')).ids).toHaveLength(4)
  expect((await poll(second.key, '--sandbox')).ids).toHaveLength(4)
  const rotated = await rotateKey(db, clock, String(actor.keyId), 3600)
  expect((await poll(rotated.key, '--sandbox')).ids).toEqual([])
  expect((await poll(actor.key)).ids).toEqual([])
})

test('partnerctl feed poll exits 2 for the state file of another account, even with --since', async () => {
  const { folder, poll } = await home()
  const one = await service.actor()
  const other = await service.actor()
  await seedBooking(one)
  const state = join(folder, 'state.json')
  await poll(one.key, '--state', state)
  for (const more of [[], ['--since', '2020-01-01']]) {
    const refused = await poll(other.key, '--state', state, ...more)
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('another account') })
  }
})

test('partnerctl feed poll ignores a lock file that nobody holds', async () => {
  const { folder, poll } = await home()
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const state = join(folder, 'state.json')
  await writeFile(`${state}.lock`, '1')
  const { code, ids } = await poll(actor.key, '--state', state)
  expect({ code, ids }).toEqual({ code: 0, ids: [booking_id] })
})

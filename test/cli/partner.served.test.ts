import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { updateKey } from '../../src/access/keys/store.ts'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [process] = sharedServices()

async function partner(key: string) {
  const home = await mkdtemp(join(tmpdir(), 'partner-cli-'))
  const environment = { PARTNER_BASE_URL: process.url, PARTNER_API_KEY: key, XDG_STATE_HOME: home }
  return { home, run: (...args: string[]) => partnerctl(args, environment) }
}

test('partnerctl me shows the host, and exits 4 when the key is refused', async () => {
  const actor = await service.actor()
  const { run } = await partner(actor.key)
  expect(JSON.parse((await run('me', '--json')).stdout)).toMatchObject({ name: 'Test host' })
  const { stdout } = await run('key')
  expect(stdout).toMatch(/^status +active$/m)
  expect(stdout).toMatch(/^rate_limit +\d+ of \d+ requests left in 60 s$/m)
  expect(JSON.parse((await run('key', '--json')).stdout)).toMatchObject({ status: 'active', usage: {} })
  const refused = await (await partner(wellFormedKey)).run('me')
  expect(refused).toMatchObject({ code: 4, stdout: '' })
  expect(refused.stderr).toContain('API key is invalid')
  expect(refused.stderr).toMatch(/Request id: \S+/)
})

test('partnerctl takes a key from the environment or from a file that only its owner can read', async () => {
  const actor = await service.actor()
  const { home } = await partner(actor.key)
  const file = join(home, 'key')
  const environment = { PARTNER_BASE_URL: process.url }
  await writeFile(file, `${actor.key}\n`, { mode: 0o644 })
  const open = await partnerctl(['me', '--key-file', file], environment)
  expect(open).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod 600') })
  await writeFile(join(home, 'own'), actor.key, { mode: 0o600 })
  expect(await partnerctl(['me', '--key-file', join(home, 'own')], environment)).toMatchObject({
    code: 0,
    stderr: '',
  })
  expect((await partnerctl(['me'], environment)).code).toBe(2)
  expect((await partnerctl(['me', '--key', actor.key], environment)).code).toBe(2)
})

test('partnerctl feed poll --once prints each change once, as NDJSON, CSV or a table', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const { run } = await partner(actor.key)
  const first = await run('feed', 'poll', '--once', '--output', 'ndjson')
  const lines = first.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines).toMatchObject([{ booking_id, status: 'pending' }])
  expect((await run('feed', 'poll', '--once', '--output', 'ndjson')).stdout).toBe('')
  const since = ['--since', '2000-01-01', '--once']
  expect((await run('feed', 'poll', ...since, '--output', 'csv')).stdout.split('\n')).toEqual([
    'booking_id,listing_id,room_type_id,status,checkin_at,checkout_at,version',
    Object.values(lines[0]).join(','),
    '',
  ])
  expect(JSON.parse((await run('feed', 'poll', ...since, '--json')).stdout)).toEqual(lines)
  expect(JSON.parse((await run('feed', 'poll', '--once', '--json')).stdout)).toEqual([])
  expect((await run('feed', 'poll', ...since)).stdout).toMatch(new RegExp(`^BOOKING_ID.*\n${booking_id} +`))
})

test('partnerctl feed poll --exec passes the item on standard input and in the environment', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const { home, run } = await partner(actor.key)
  const log = join(home, 'log')
  const exec = `cat >> ${log}; echo "$PARTNER_BOOKING_ID $PARTNER_STATUS [$PARTNER_API_KEY]" >> ${log}`
  expect((await run('feed', 'poll', '--once', '--exec', exec)).code).toBe(0)
  const [item, variables] = (await readFile(log, 'utf8')).split('\n')
  expect(JSON.parse(item as string)).toMatchObject({ booking_id })
  expect(variables).toBe(`${booking_id} pending []`)
})

test('partnerctl feed poll exits 1 at the item whose command keeps failing, and resumes there', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const { run } = await partner(actor.key)
  const failed = await run('feed', 'poll', '--once', '--exec', 'exit 3')
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining(`booking ${booking_id}`) })
  expect((await run('feed', 'poll', '--once', '--output', 'ndjson')).stdout).toContain(
    `"booking_id":${booking_id}`,
  )
})

test('partnerctl api sends any request and shows the response', async () => {
  const actor = await service.actor()
  const { run } = await partner(actor.key)
  const created = await run('api', 'POST', '/users', '--data', '@fixtures/users/minimal.json')
  expect(JSON.parse(created.stdout).data.first_name).toBe('健二')
  const refused = await run('api', 'POST', '/users', '--data', '{}')
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain('email: "email" is required')
  const message = ['--data', '{"name":"House","colour":"red"}']
  expect(JSON.parse((await run('api', 'POST', '/listings', ...message)).stdout).meta.ignored).toEqual([
    'colour',
  ])
  const elsewhere = await run('api', 'GET', '/sandbox/me')
  expect(elsewhere).toMatchObject({ code: 2, stderr: expect.stringContaining('The path names /sandbox') })
  expect((await run('api', 'GET', '/sandbox/me', '--sandbox')).code).toBe(0)
  const strict = await run('api', 'POST', '/listings', ...message, '--strict')
  expect(strict).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('"colour" is unknown or read-only'),
  })
})

test('a key or an address that cannot be used is wrong usage', async () => {
  const run = async (PARTNER_API_KEY: string, PARTNER_BASE_URL: string) =>
    (await partnerctl(['me'], { PARTNER_API_KEY, PARTNER_BASE_URL })).code
  expect(await run('pis ä', process.url)).toBe(2)
  expect(await run(wellFormedKey, `${process.url}/?x=1`)).toBe(2)
})

test('doctor exits 4 if the key is not accepted from here', async () => {
  const { key, keyId } = await service.actor()
  await updateKey(service.live.db, String(keyId), { allowed_from: ['192.0.2.0/24'] })
  expect(await (await partner(key)).run('doctor')).toMatchObject({ code: 4 })
})

test('partnerctl me exits 1 with one line when the service cannot be reached', async () => {
  const result = await partnerctl(['me'], {
    PARTNER_API_KEY: wellFormedKey,
    PARTNER_BASE_URL: 'http://127.0.0.1:9',
  })
  expect(result.code).toBe(1)
  expect(result.stderr).toMatch(/^Cannot reach http:\/\/127\.0\.0\.1:9\/v1/)
})

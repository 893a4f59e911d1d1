import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { storeCertification } from '../../support/certification.ts'
import { certifyingService } from '../../support/certifying.ts'
import { partnerctl } from '../../support/processes.ts'
import { fast } from './times.ts'

const service = await certifyingService(fast, { PUBLIC_URL: 'https://partners.example.com' })
afterAll(() => service.close())
const path = '/sandbox/certifications'
const folder = await mkdtemp(join(tmpdir(), 'partner-certification-'))
afterAll(() => rm(folder, { recursive: true }))

test('partnerctl starts a certification, shows its state, uploads a state and fetches a report', async ({
  expect,
}) => {
  const actor = await service.actor()
  const environment = { PARTNER_BASE_URL: service.url, PARTNER_API_KEY: actor.key }
  const run = (...args: string[]) => partnerctl(['certify', ...args], environment)
  expect((await run('status')).code).toBe(1)
  const started = await run('start', '--profile', 'feed, webhooks', '--seed', 'october')
  expect({ code: started.code, stdout: started.stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/Next: start\.|feed\.pages\s+waiting/),
  })
  expect((await run('start', '--profile', 'feed')).code).toBe(1)
  const [{ id }] = (await actor.send('GET', path)).body.data
  await actor.send('DELETE', `${path}/${id}`)
  const junit = join(folder, 'junit.xml')
  const followed = await run('status', '--follow', '--junit', junit)
  expect({ code: followed.code, stderr: followed.stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('skipped: feed.pages'),
  })
  expect(await readFile(junit, 'utf8')).toMatch(/<testsuite [^>]*tests="10"[^>]*skipped="10"/)
  const asked = await storeCertification(actor.db, actor, 'asked')
  const lines = join(folder, 'bookings.ndjson')
  await writeFile(
    lines,
    '{"booking_id":1,"status":"pending","checkin_at":"2030-01-01","checkout_at":"2030-02-01"}\n',
  )
  expect((await run('state', lines, '--id', String(asked))).code).toBe(0)
  expect((await run('state', lines, '--id', String(asked))).code).toBe(1)
  const passed = await storeCertification(actor.db, actor, 'passed')
  expect((await run('status', '--id', String(passed))).code).toBe(0)
  const file = join(folder, 'fetched.jws')
  expect((await run('report', '--id', String(passed), '--output', file)).code).toBe(0)
  expect((await readFile(file, 'utf8')).split('.')).toHaveLength(3)
  const listed = await partnerctl(['certifications', 'list', '--json'], { MONGODB_URL: service.mongodbUrl })
  expect(JSON.parse(listed.stdout).map((one: { id: number }) => one.id)).toEqual(
    expect.arrayContaining([id, asked, passed]),
  )
})

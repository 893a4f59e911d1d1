import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Actor, testApp } from '../../support/app.ts'
import { exportOf } from '../../support/drift.ts'
import { fillBookings } from '../../support/many-bookings.ts'

const guides = await readFile(new URL('../../../src/pages/docs/guides.md', import.meta.url), 'utf8')
const [, section = ''] = /## After an outage\n([\s\S]*?)\n## /.exec(guides) ?? []
const [javaScript, python, shell] = [...section.matchAll(/```\n([\s\S]*?)```/g)].map(([, code]) => code)

const service = await testApp()
const folder = await mkdtemp(join(tmpdir(), 'partner-digest-'))
afterAll(() => rm(folder, { recursive: true }))
let actor: Actor

beforeAll(async () => {
  actor = await service.actor()
  await fillBookings(service.live.db, actor.hostId, 250)
  const rows = (await exportOf(actor)).reverse()
  const lines = rows.map(({ booking_id, status, checkin_at, checkout_at }) =>
    [booking_id, status, checkin_at, checkout_at].join(),
  )
  await writeFile(
    join(folder, 'bookings.csv'),
    `booking_id,status,checkin_at,checkout_at\n${lines.join('\n')}\n`,
  )
})

test.each([
  ['JavaScript', 'digest.mjs', ['node', 'digest.mjs'], javaScript, true],
  ['Python', 'digest.py', ['python3', 'digest.py'], python, true],
  ['a shell', 'digest.sh', ['sh', 'digest.sh'], shell, false],
])("the guide's code in %s computes the digest", async (_, file, command, code, counts) => {
  await writeFile(join(folder, file), code as string)
  const child = Bun.spawn(command, { cwd: folder, stdout: 'pipe' })
  const words = (await new Response(child.stdout).text()).trim().split(/\s+/)
  const { body } = await actor.send('GET', '/v1/integrations/provider_one/bookings/digest')
  const { count, sha256 } = body.data.digest
  expect(words).toEqual(counts ? [String(count), sha256] : [sha256, '-'])
  expect(count).toBe(250)
})

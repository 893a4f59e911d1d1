import { mkdtemp, open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { seedBooking, testApp, testEnvironment } from '../support/app.ts'
import { seededRandom } from '../support/history.ts'
import { partnerctl, startService } from '../support/processes.ts'

const service = await testApp()
const server = await startService(testEnvironment())
afterAll(() => server.stop())

/** How often a poller is killed; the promise is tried with more by hand. */
const kills = Number(process.env.KILLS ?? 5)
const perPage = 100

/** A host, and a poller of its feed that needs no disk. */
async function partner() {
  const actor = await service.actor({ rateLimit: 1_000_000 })
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const folder = await mkdtemp(join(tmpdir(), 'partner-consumer-'))
  const environment = {
    PATH: process.env.PATH ?? '',
    PARTNER_BASE_URL: server.url,
    PARTNER_API_KEY: actor.key,
    XDG_STATE_HOME: folder,
  }
  const file = join(folder, 'handled')
  return {
    actor,
    folder,
    book: () => actor.send('POST', '/v1/bookings', { body: stay }),
    poll: (...args: string[]) =>
      partnerctl(['feed', 'poll', '--once', '--output', 'ndjson', ...args], environment),
    /** Starts a poller that appends what it handles to a file. */
    async follow(...args: string[]) {
      const output = await open(file, 'a')
      const command = [
        process.execPath,
        'cli/main.ts',
        'feed',
        'poll',
        '--follow',
        '--output',
        'ndjson',
        ...args,
      ]
      const child = Bun.spawn(command, { env: environment, stdout: output.fd, stderr: 'ignore' })
      child.exited.finally(() => output.close())
      return child
    },
    handled: async () =>
      (await readFile(file, 'utf8'))
        .split('\n')
        .filter((line) => line.endsWith('}'))
        .map((line) => JSON.parse(line).version as string),
    truth: async () => {
      const versions: string[] = []
      for (let [page, last] = [1, 1]; page <= last; page += 1) {
        const path = `/v1/integrations/provider_one/bookings?per_page=100&page=${page}`
        const { data, meta } = (await actor.send('GET', path)).body
        versions.push(...data.Bookings.map(({ version }: { version: string }) => version))
        last = meta.pagination.last_page
      }
      return versions
    },
  }
}

test(`a poller with a consumer that is killed ${kills} times loses nothing and repeats at most a page for each`, {
  timeout: 60_000 + kills * 4000,
}, async () => {
  const { book, follow, handled, truth, folder } = await partner()
  const random = seededRandom(11)
  for (let kill = 0; kill < kills; kill += 1) {
    const child = await follow('--consumer', 'sync')
    await Bun.sleep(200 + random() * 300)
    await Promise.all(Array.from({ length: 10 }, book))
    await Bun.sleep(random() * 60)
    child.kill('SIGKILL')
    await child.exited
  }
  const last = await follow('--consumer', 'sync')
  await Bun.sleep(1000)
  await book()
  const all = await truth()
  while (!(await handled()).includes(all.at(-1) as string)) await Bun.sleep(20)
  last.kill('SIGTERM')
  expect(await last.exited).toBe(0)
  const seen = await handled()
  expect(all.filter((version) => !seen.includes(version))).toEqual([])
  expect(seen.length - new Set(seen).size).toBeLessThanOrEqual(kills * perPage)
  expect(await Array.fromAsync(new Bun.Glob('**/*').scan(folder))).toEqual(['handled'])
})

test('a poll with a consumer creates it, continues with it, and does not move another one', async () => {
  const { book, poll, actor, truth } = await partner()
  await book()
  const [first, second] = await truth()
  const versionsOf = async (...args: string[]) =>
    (await poll(...args)).stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line).version)
  expect(await versionsOf('--consumer', 'one')).toEqual([first, second])
  expect(await versionsOf('--consumer', 'one')).toEqual([])
  expect(await versionsOf('--consumer', 'two')).toEqual([first, second])
  const { data } = (await actor.send('GET', '/v1/integrations/provider_one/bookings/consumers')).body
  expect(data.map(({ name, acknowledged }: Record<string, string>) => [name, acknowledged])).toEqual([
    ['one', second],
    ['two', second],
  ])
  const { stdout } = await partnerctl(['consumers', 'list', '--json', '--limit', '1000'], testEnvironment())
  const listed = JSON.parse(stdout).filter(({ host_id }: { host_id: number }) => host_id === actor.hostId)
  expect(listed).toMatchObject([{ oldest_pending_at: null }, { oldest_pending_at: null }])
})

test('a handler that fails acknowledges what was handled before it', async () => {
  const { book, poll, truth, actor } = await partner()
  await book()
  const [first, second] = (await truth()) as [string, string]
  const { code } = await poll('--consumer', 'failing', '--exec', `test "$PARTNER_VERSION" != "${second}"`)
  expect(code).toBe(1)
  const { data } = (await actor.send('GET', '/v1/integrations/provider_one/bookings/consumers/failing')).body
  expect(data.acknowledged).toBe(first)
})

test.each([
  ['--listing', '1'],
  ['--checkout-after', '2027-01-01'],
  ['--since', '2027-01-01 00:00:00'],
  ['--state', 'file'],
])('--consumer and %s exclude each other', async (...option) => {
  const { code, stderr } = await partnerctl(['feed', 'poll', '--consumer', 'sync', ...option], {
    PARTNER_API_KEY: 'none',
  })
  expect(code).toBe(2)
  expect(stderr).toContain(`Options --consumer and ${option[0]} exclude each other`)
})

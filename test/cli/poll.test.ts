import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { pauseFor } from '../../cli/poll/pace.ts'
import { bookingModel } from '../../src/bookings/model.ts'
import { findBookingOfAnyHost } from '../../src/bookings/store.ts'
import { transitionBooking } from '../../src/bookings/transitions.ts'
import { toVersion } from '../../src/bookings/version.ts'
import { type Actor, seedBooking, testApp, testEnvironment } from '../support/app.ts'
import { partnerctl, startService } from '../support/processes.ts'

const service = await testApp()
const { db, clock } = service.live
const server = await startService(testEnvironment())
afterAll(() => server.stop())
const root = new URL('../..', import.meta.url).pathname

async function poller(actor: Actor, baseUrl = server.url) {
  const home = await mkdtemp(join(tmpdir(), 'partner-poll-'))
  const environment = {
    PATH: process.env.PATH ?? '',
    PARTNER_BASE_URL: baseUrl,
    PARTNER_API_KEY: actor.key,
    XDG_STATE_HOME: home,
  }
  const state = join(home, 'state.json')
  return {
    home,
    state,
    run: (...args: string[]) => partnerctl(['feed', 'poll', '--state', state, ...args], environment),
    start: (...args: string[]) =>
      Bun.spawn([process.execPath, 'cli/main.ts', 'feed', 'poll', '--state', state, ...args], {
        cwd: root,
        env: environment,
        stdout: 'pipe',
        stderr: 'pipe',
      }),
  }
}

const versionsIn = (log: string) => log.trim().split('\n').filter(Boolean)

test('killed a hundred times with SIGKILL against a changing feed: every change at least once, only the one in hand twice', {
  timeout: 240_000,
}, async () => {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const { home, run, start } = await poller(actor)
  const log = join(home, 'log')
  await writeFile(log, '')
  const exec = `echo "$PARTNER_BOOKING_ID $PARTNER_VERSION" >> ${log}`
  const ids: number[] = []
  let isOver = false
  const writing = (async () => {
    const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
    while (!isOver) {
      const { body: answer } = await actor.send('POST', '/v1/bookings', { body })
      ids.push(answer.data.booking_id)
      const id = ids[Math.floor(Math.random() * ids.length)] as number
      await transitionBooking(
        { db, clock },
        () => findBookingOfAnyHost(db, id),
        Math.random() < 0.5 ? 'confirmed' : 'cancelled',
      ).catch(() => {})
      await Bun.sleep(40)
    }
  })()
  for (let kill = 0; kill < 100; kill += 1) {
    const child = start('--interval', '0.05s', '--exec', exec)
    await Bun.sleep(150 + Math.random() * 300)
    child.kill('SIGKILL')
    await child.exited
  }
  isOver = true
  await writing
  expect((await run('--once', '--exec', exec)).code).toBe(0)
  const handled = versionsIn(await readFile(log, 'utf8'))
  const truth = await bookingModel(db).find({ host_id: actor.hostId }).lean()
  const missing = truth.filter(({ id, updated_at }) => !handled.includes(`${id} ${toVersion(updated_at)}`))
  expect(missing).toEqual([])
  const repeats = handled.length - new Set(handled).size
  // A repeat stands right behind the change it repeats: nothing older comes back.
  const outOfOrder = handled.filter(
    (line, index) =>
      index > 0 &&
      (line.split(' ', 2)[1] as string) + line.slice(-8) <
        (handled[index - 1]?.split(' ', 2)[1] as string) + handled[index - 1]?.slice(-8),
  )
  expect(outOfOrder).toEqual([])
  expect(repeats).toBeLessThanOrEqual(100)
  console.log(
    `100 kills: ${truth.length} bookings, ${new Set(handled).size} changes handled, ${repeats} of them twice, none lost`,
  )
})

test('a second poll on the same state file refuses, and a killed one leaves it free', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const { run, start } = await poller(actor)
  const first = start('--interval', '1h')
  await first.stdout.getReader().read()
  const second = await run('--once')
  expect([second.code, second.stdout]).toEqual([1, ''])
  expect(second.stderr).toContain(`process ${first.pid}`)
  first.kill('SIGKILL')
  await first.exited
  expect((await run('--once')).code).toBe(0)
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s finishes the change in hand, keeps it and exits 0',
  async (signal) => {
    const actor = await service.actor()
    const { user_id, listing_id, room_type_id } = await seedBooking(actor)
    const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
    await actor.send('POST', '/v1/bookings', { body })
    const { home, run, start } = await poller(actor)
    const log = join(home, 'log')
    const child = start('--exec', `echo begun >> ${log}; sleep 0.5; echo done >> ${log}`)
    while (!(await readFile(log, 'utf8').catch(() => '')).includes('begun')) await Bun.sleep(10)
    child.kill(signal)
    expect(await child.exited).toBe(0)
    expect(await readFile(log, 'utf8')).toBe('begun\ndone\n')
    expect((await run('--once', '--output', 'ndjson')).stdout.trim().split('\n')).toHaveLength(1)
  },
)

test('a state file of another address or filter, or of something else, is refused with 2', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const { state, run } = await poller(actor)
  await run('--once')
  const other = await run('--once', '--checkout-after', '2026-01-01')
  expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('other filters')])
  await writeFile(state, 'something else')
  expect((await run('--once')).code).toBe(2)
  expect(await readFile(state, 'utf8')).toBe('something else')
})

test('a refused key stops the poll with 4, a wrong argument with 2', async () => {
  const actor = await service.actor({ permissions: [] })
  const { run } = await poller(actor)
  expect((await run('--once')).code).toBe(4)
  for (const args of [
    ['--interval', 'soon'],
    ['--since', 'yesterday'],
    ['--checkout-after', '2026-02-30'],
    ['--output', 'xml'],
    ['--listing', 'x'],
  ]) {
    expect([args, (await run('--once', ...args)).code]).toEqual([args, 2])
  }
})

test('it waits out a 429, faults and 5xx, and goes on where it was', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const answers = [
    () => new Response('down', { status: 503 }),
    () => new Response('<html>', { status: 502 }),
    () =>
      Response.json(
        { error: { type: 'rate_limit_error', message: 'Slow', errors: [] } },
        { status: 429, headers: { 'retry-after': '1' } },
      ),
  ]
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) =>
      answers.shift()?.() ??
      fetch(server.url + new URL(request.url).pathname + new URL(request.url).search, {
        headers: request.headers,
      }),
  })
  const { run } = await poller(actor, `http://127.0.0.1:${proxy.port}`)
  const start = Date.now()
  const { code, stdout, stderr } = await run('--once', '--output', 'ndjson')
  expect([code, stdout.trim().split('\n').length, answers.length]).toEqual([0, 1, 0])
  expect(Date.now() - start).toBeGreaterThan(1000)
  expect(stderr.trim().split('\n')).toHaveLength(3)
  await proxy.stop()
})

test.each([
  ['"default";q=60;w=60', '"default";r=59;t=60', 0],
  ['"default";q=60;w=60', '"default";r=31;t=60', 0],
  ['"default";q=60;w=60', '"default";r=29;t=60', 2],
  ['"default";q=60;w=60', '"default";r=0;t=60', 60],
  ['', '', 0],
])('pauseFor(%s, %s) is %i s', (policy, limit, seconds) => {
  expect(pauseFor(new Headers({ 'ratelimit-policy': policy, ratelimit: limit }))).toBe(seconds)
})

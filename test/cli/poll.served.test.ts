import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { rateLimitPause } from '../../client/src/retry.ts'
import { type Actor, seedBooking, sharedServices, testApp } from '../support/app.ts'
import { feedPoller } from '../support/feed-poller.ts'

const service = await testApp()
const [server] = sharedServices()
const poller = (actor: Actor, baseUrl = server.url) => feedPoller(actor, baseUrl)

test.concurrent('partnerctl feed poll exits 1 while another poll uses its state file, and runs once that one is killed', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const { run, start } = await poller(actor)
  const first = start('--interval', '1h')
  await first.stdout.getReader().read()
  const second = await run('--once')
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toContain(`process ${first.pid}`)
  first.kill('SIGKILL')
  await first.exited
  expect((await run('--once')).code).toBe(0)
})

test.concurrent.each(['SIGINT', 'SIGTERM'] as const)(
  '%s lets a poll finish the change in progress, save its checkpoint and exit 0',
  async (signal) => {
    const actor = await service.actor()
    const { user_id, listing_id, room_type_id } = await seedBooking(actor)
    const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
    const changes = 5
    for (let count = 1; count < changes; count += 1) await actor.send('POST', '/v1/bookings', { body })
    const { home, run, start } = await poller(actor)
    const log = join(home, 'log')
    const go = join(home, 'go')
    const child = start(
      '--exec',
      `echo begun >> ${log}; while [ ! -e ${go} ]; do sleep 0.1; done; echo done >> ${log}`,
    )
    while (!(await readFile(log, 'utf8').catch(() => '')).includes('begun')) await Bun.sleep(10)
    child.kill(signal)
    await writeFile(go, '')
    expect(await child.exited).toBe(0)
    const handled = await readFile(log, 'utf8')
    const complete = handled.match(/begun\ndone\n/g)?.length ?? 0
    expect(handled).toBe('begun\ndone\n'.repeat(complete))
    // The poll may notice the signal before or after the command finishes.
    expect([1, 2]).toContain(complete)
    const { stdout } = await run('--once', '--output', 'ndjson')
    expect(stdout.trim().split('\n')).toHaveLength(changes - complete)
  },
)

test.concurrent('a poll whose command fails exits 1 and names the item, even after SIGTERM', async ({
  expect,
}) => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const { home, run, start } = await poller(actor)
  const log = join(home, 'log')
  const go = join(home, 'go')
  const child = start('--exec', `echo begun >> ${log}; while [ ! -e ${go} ]; do sleep 0.1; done; exit 3`)
  await expect.poll(() => readFile(log, 'utf8').catch(() => '')).toContain('begun')
  child.kill('SIGTERM')
  await writeFile(go, '')
  expect(await child.exited).toBe(1)
  const { stdout } = await run('--once', '--output', 'ndjson')
  expect(stdout).toContain(`"booking_id":${booking_id}`)
})

test.concurrent('partnerctl feed poll --include detail hands over whole bookings and continues the same walk', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const { run } = await poller(actor)
  const { stdout } = await run('--once', '--include', 'detail', '--output', 'ndjson')
  const { body } = await actor.send('GET', `/v1/integrations/provider_one/bookings/${booking_id}`)
  expect(JSON.parse(stdout)).toMatchObject({ booking_id, Booking: body.data.Booking })
  expect(await run('--once', '--output', 'ndjson')).toMatchObject({ code: 0, stdout: '' })
})

test.concurrent('partnerctl feed poll exits 2 for a state file of other filters or of another program', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const { state, run } = await poller(actor)
  await run('--once')
  const other = await run('--once', '--checkout-after', '2026-01-01')
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('other filters') })
  await writeFile(state, 'something else')
  expect((await run('--once')).code).toBe(2)
  expect(await readFile(state, 'utf8')).toBe('something else')
})

test.concurrent('partnerctl feed poll exits 4 for a key without its permission', async () => {
  const { run } = await poller(await service.actor({ permissions: [] }))
  expect((await run('--once')).code).toBe(4)
})

test.each([
  ['--interval', 'soon'],
  ['--since', 'yesterday'],
  ['--checkout-after', '2026-02-30'],
  ['--output', 'xml'],
  ['--listing', 'x'],
])('partnerctl feed poll %s %s exits 2', async (option, value) => {
  const { run } = await poller(await service.actor({ permissions: [] }))
  expect((await run('--once', option, value)).code).toBe(2)
})

test.concurrent('partnerctl feed poll waits out 5xx and 429 responses and continues', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const responses = [
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
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      // Beside its work, the poll also reads the package's metadata, which are compressed.
      const own = pathname.startsWith('/npm/') ? undefined : responses.shift()
      return own?.() ?? fetch(server.url + pathname + search, { headers: request.headers, decompress: false })
    },
  })
  const { run } = await poller(actor, `http://127.0.0.1:${proxy.port}`)
  const { code, stdout, stderr } = await run('--once', '--output', 'ndjson')
  expect({ code, lines: stdout.trim().split('\n').length, responsesLeft: responses.length }).toEqual({
    code: 0,
    lines: 1,
    responsesLeft: 0,
  })
  expect(stderr.trim().split('\n')).toHaveLength(3)
  await proxy.stop()
})

test.each([
  ['"default";q=60;w=60', '"default";r=59;t=60', 0],
  ['"default";q=60;w=60', '"default";r=31;t=60', 0],
  ['"default";q=60;w=60', '"default";r=29;t=60', 2],
  ['"default";q=60;w=60', '"default";r=0;t=60', 60],
  ['', '', 0],
])(
  'after a response with the limits %j and %j, a sync waits %i s before its next page',
  (policy, limit, seconds) => {
    expect(rateLimitPause(new Headers({ 'ratelimit-policy': policy, ratelimit: limit }))).toBe(seconds)
  },
)

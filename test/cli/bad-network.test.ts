import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { type Actor, seedBooking, testApp, testEnvironment } from '../support/app.ts'
import { partnerctl, startService } from '../support/processes.ts'

const service = await testApp()
const server = await startService(testEnvironment())

type Reply = (request: Request) => Response | Promise<Response>
let replies: Reply[] = []
let seen: Request[] = []
const passOn: Reply = (request) => {
  const { pathname, search } = new URL(request.url)
  return fetch(server.url + pathname + search, { headers: request.headers })
}
/** A proxy that gives its own replies to the feed first, and then passes on. */
const proxy = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    seen.push(request)
    const isFeed = new URL(request.url).pathname.endsWith('/bookings')
    return ((isFeed && replies.shift()) || passOn)(request)
  },
})
const elsewhere = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    seen.push(request)
    return Response.json({ data: {} })
  },
})
afterAll(() => Promise.all([server.end('SIGTERM'), proxy.stop(true), elsewhere.stop(true)]))
beforeEach(() => {
  replies = []
  seen = []
})

async function poller(actor: Actor) {
  const home = await mkdtemp(join(tmpdir(), 'partner-net-'))
  const state = join(home, 'state.json')
  const environment = {
    PARTNER_BASE_URL: proxy.url.origin,
    PARTNER_API_KEY: actor.key,
    XDG_STATE_HOME: home,
  }
  return {
    state,
    environment,
    run: (...args: string[]) =>
      partnerctl(['feed', 'poll', '--once', '--state', state, '--output', 'ndjson', ...args], environment),
  }
}

test('the key is never sent along a redirect, by any command', async () => {
  const actor = await service.actor()
  const { environment } = await poller(actor)
  const redirecting = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => Response.redirect(`${elsewhere.url.origin}/v1/me`, 302),
  })
  for (const args of [['me'], ['doctor'], ['api', 'GET', '/listings'], ['feed', 'show', '1']]) {
    const result = await partnerctl(args, { ...environment, PARTNER_BASE_URL: redirecting.url.origin })
    expect([args, result.code]).toEqual([args, 1])
    expect(result.stdout + result.stderr).toContain('redirects elsewhere')
  }
  expect(seen).toEqual([])
  await redirecting.stop(true)
})

test('a poll waits out everything that is not of the service, and Retry-After of a proxy, as seconds or as a date', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const { run } = await poller(actor)
  const inTwoSeconds = () => new Date(Date.now() + 2000).toUTCString()
  replies = [
    () => Response.redirect(elsewhere.url.origin, 302),
    () => new Response('<html>busy</html>', { status: 503, headers: { 'retry-after': '1' } }),
    () => new Response('<html>busy</html>', { status: 503, headers: { 'retry-after': inTwoSeconds() } }),
    () =>
      Response.json(
        { error: { type: 'rate_limit_error', message: 'Slow down', errors: [] } },
        { status: 429 },
      ),
    () => new Response('too many', { status: 429 }),
    () => Response.json({ hello: 'world' }),
    () => Response.json({ data: { Bookings: 'none' } }),
    () => Response.json({ data: { Bookings: [{ booking_id: '7', version: 1 }] } }),
    () => new Response('{"data":{"Boo', { headers: { 'content-type': 'application/json' } }),
    () => new Response('not found', { status: 404 }),
  ]
  const count = replies.length
  const start = Date.now()
  const { code, stdout, stderr } = await run()
  expect([code, stdout.trim().split('\n').length, replies.length]).toEqual([0, 1, 0])
  expect(stderr.trim().split('\n')).toHaveLength(count)
  expect(stderr).toContain('trying again in 1.0 s')
  expect(Date.now() - start).toBeGreaterThan(2000)
  expect(stderr).not.toContain('undefined')
}, 240_000)

const item = (booking_id: number, version: string) => ({
  ...{ booking_id, listing_id: 1, room_type_id: 1, status: 'pending' },
  ...{ checkin_at: '2030-01-01', checkout_at: '2030-02-01', version },
})
const page = (...items: object[]) =>
  Response.json({ data: { Bookings: items }, meta: { pagination: { total: items.length } } })

test('a feed that does not move forward stops the poll with 1, and the checkpoint never goes back', async () => {
  const actor = await service.actor()
  const full = Array.from({ length: 100 }, (_, at) =>
    item(
      at + 1,
      `2026-01-01 00:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`,
    ),
  )
  const { run, state } = await poller(actor)
  replies = Array.from({ length: 5 }, () => () => page(...full))
  const same = await run()
  expect([same.code, same.stdout.trim().split('\n').length]).toEqual([1, 100])
  expect(same.stderr).toContain('does not move forward')
  expect(replies).toHaveLength(3)
  const kept = await readFile(state, 'utf8')
  replies = [() => page(item(1, '2026-01-01 00:01:40'), item(2, '2025-12-31 00:00:00'))]
  const back = await run()
  expect([back.code, back.stdout]).toEqual([1, ''])
  expect(await readFile(state, 'utf8')).toBe(kept)
})

test('feed poll --json prints one whole document, also when it fails on the way and with --exec', async () => {
  const actor = await service.actor()
  const { environment } = await poller(actor)
  const first = [item(1, '2026-01-01 00:00:01'), item(2, '2026-01-01 00:00:02')]
  const poll = (...args: string[]) => partnerctl(['feed', 'poll', '--once', '--json', ...args], environment)
  replies = [() => page(...first)]
  const failing = await poll('--exec', 'echo noise; [ "$PARTNER_BOOKING_ID" = 1 ]')
  expect([failing.code, JSON.parse(failing.stdout)]).toEqual([1, [first[0]]])
  expect(failing.stderr).toContain('noise')
  replies = [() => page(first[1] as object)]
  const rest = await poll('--exec', 'echo noise')
  expect([rest.code, JSON.parse(rest.stdout)]).toEqual([0, [first[1]]])
  replies = [() => new Response(null, { status: 401 })]
  const refused = await poll()
  expect([refused.code, refused.stdout.trim()]).toEqual([4, '[]'])
})

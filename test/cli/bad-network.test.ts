import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { type Actor, seedBooking, testApp, testEnvironment } from '../support/app.ts'
import { partnerctl, startService } from '../support/processes.ts'

const service = await testApp()
const server = await startService(testEnvironment())

type Reply = (request: Request) => Response | Promise<Response>
/** What the proxy replies to the feed of a key before it passes on. */
const replies = new Map<string, Reply[]>()
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
    const own = isFeed ? replies.get(request.headers.get('x-api-key') as string) : undefined
    return (own?.shift() ?? passOn)(request)
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
afterAll(() => Promise.all([server.stop(), proxy.stop(true), elsewhere.stop(true)]))
beforeEach(() => {
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
    replyWith: (...first: Reply[]) => replies.set(actor.key, first),
    left: () => replies.get(actor.key)?.length,
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

const inTwoSeconds = () => new Date(Date.now() + 2000).toUTCString()
const limited = { error: { type: 'rate_limit_error', message: 'Slow down', errors: [] } }
const foreign: Record<string, Reply> = {
  'a redirect': () => Response.redirect(elsewhere.url.origin, 302),
  'a 503 page with seconds': () => new Response('<html>', { status: 503, headers: { 'retry-after': '2' } }),
  'a 503 page with a date': () =>
    new Response('<html>', { status: 503, headers: { 'retry-after': inTwoSeconds() } }),
  'a 429 without Retry-After': () => Response.json(limited, { status: 429 }),
  'a 429 page': () => new Response('too many', { status: 429 }),
  'other JSON': () => Response.json({ hello: 'world' }),
  'a feed without a list': () => Response.json({ data: { Bookings: 'none' } }),
  'items of another shape': () => Response.json({ data: { Bookings: [{ booking_id: '7', version: 1 }] } }),
  'half a body': () => new Response('{"data":{"Boo', { headers: { 'content-type': 'application/json' } }),
  'a 404 page': () => new Response('not found', { status: 404 }),
}

test('a poll waits out whatever is not of the service, and honours a foreign Retry-After', async () => {
  await Promise.all(
    Object.entries(foreign).map(async ([name, reply]) => {
      const actor = await service.actor()
      await seedBooking(actor)
      const { run, replyWith } = await poller(actor)
      replyWith(reply)
      const start = Date.now()
      const { code, stdout, stderr } = await run()
      const lines = [stdout, stderr].map((text) => text.trim().split('\n').length)
      expect([name, code, ...lines]).toEqual([name, 0, 1, 1])
      expect(stderr).toMatch(/; trying again in \d+\.\d s$/m)
      expect(stderr).not.toContain('undefined')
      if (name.startsWith('a 503')) expect(Date.now() - start).toBeGreaterThan(1000)
    }),
  )
})

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
  const { run, state, replyWith, left } = await poller(actor)
  replyWith(...Array.from({ length: 5 }, () => () => page(...full)))
  const same = await run()
  expect([same.code, same.stdout.trim().split('\n').length]).toEqual([1, 100])
  expect(same.stderr).toContain('does not move forward')
  expect(left()).toBe(3)
  const kept = await readFile(state, 'utf8')
  replyWith(() => page(item(1, '2026-01-01 00:01:40'), item(2, '2025-12-31 00:00:00')))
  const back = await run()
  expect([back.code, back.stdout]).toEqual([1, ''])
  expect(await readFile(state, 'utf8')).toBe(kept)
})

test('feed poll --json prints one whole document, also when it fails on the way and with --exec', async () => {
  const actor = await service.actor()
  const { environment, replyWith } = await poller(actor)
  const first = [item(1, '2026-01-01 00:00:01'), item(2, '2026-01-01 00:00:02')]
  const poll = (...args: string[]) => partnerctl(['feed', 'poll', '--once', '--json', ...args], environment)
  replyWith(() => page(...first))
  const failing = await poll('--exec', 'echo noise; [ "$PARTNER_BOOKING_ID" = 1 ]')
  expect([failing.code, JSON.parse(failing.stdout)]).toEqual([1, [first[0]]])
  expect(failing.stderr).toContain('noise')
  replyWith(() => page(first[1] as object))
  const rest = await poll('--exec', 'echo noise')
  expect([rest.code, JSON.parse(rest.stdout)]).toEqual([0, [first[1]]])
  replyWith(() => new Response(null, { status: 401 }))
  const refused = await poll()
  expect([refused.code, refused.stdout.trim()]).toEqual([4, '[]'])
})

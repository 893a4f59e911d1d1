import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { type Actor, seedBooking, sharedServices, testApp } from '../support/app.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

type Reply = (request: Request) => Response | Promise<Response>
/** The proxy's own replies to a key's first feed requests, by key. */
const replies = new Map<string, Reply[]>()
let seen: Request[] = []
/** Passes a request on, and the response as it is: the poll also reads the package's metadata, which are compressed. */
const passOn: Reply = (request) => {
  const { pathname, search } = new URL(request.url)
  return fetch(server.url + pathname + search, { headers: request.headers, decompress: false })
}
/** A proxy that sends its own replies to the first feed requests, and passes all other requests on to the service. */
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
const redirecting = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => Response.redirect(`${elsewhere.url.origin}/v1/me`, 302),
})
afterAll(() => Promise.all([proxy.stop(true), elsewhere.stop(true), redirecting.stop(true)]))
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

test.each(['me', 'doctor', 'api GET /listings', 'feed show 1'])(
  'partnerctl %s does not follow a redirect with the key',
  async (command) => {
    const { environment } = await poller(await service.actor())
    const args = command.split(' ')
    const result = await partnerctl(args, { ...environment, PARTNER_BASE_URL: redirecting.url.origin })
    expect(result.code).toBe(1)
    expect(result.stdout + result.stderr).toContain('redirects to another address')
    expect(seen).toEqual([])
  },
)

const soon = () => new Date(Date.now() + 5000).toUTCString()
const limited = { error: { type: 'rate_limit_error', message: 'Slow down', errors: [] } }
const anyPause = '(0\\.\\d|1\\.0)'
/** The name of a reply, a pattern for the pause in seconds that the poll announces after the reply, and the reply. */
const foreign: [string, string, Reply][] = [
  ['a redirect', anyPause, () => Response.redirect(elsewhere.url.origin, 302)],
  [
    'a 503 page with Retry-After in seconds',
    '2\\.0',
    () => new Response('<html>', { status: 503, headers: { 'retry-after': '2' } }),
  ],
  [
    'a 503 page with a date in Retry-After',
    '[2-5]\\.\\d',
    () => new Response('<html>', { status: 503, headers: { 'retry-after': soon() } }),
  ],
  ['a 429 without Retry-After', anyPause, () => Response.json(limited, { status: 429 })],
  ['a 429 page', anyPause, () => new Response('too many', { status: 429 })],
  ['other JSON', anyPause, () => Response.json({ hello: 'world' })],
  ['a feed without a list', anyPause, () => Response.json({ data: { Bookings: 'none' } })],
  [
    'items of another shape',
    anyPause,
    () => Response.json({ data: { Bookings: [{ booking_id: '7', version: 1 }] } }),
  ],
  [
    'half a body',
    anyPause,
    () => new Response('{"data":{"Boo', { headers: { 'content-type': 'application/json' } }),
  ],
  ['a 404 page', anyPause, () => new Response('not found', { status: 404 })],
]

test.concurrent.each(foreign)(
  'partnerctl feed poll retries after %s from a proxy, and says that it waits %s s',
  async (_, seconds, reply) => {
    const actor = await service.actor()
    await seedBooking(actor)
    const { run, replyWith } = await poller(actor)
    replyWith(reply)
    const { code, stdout, stderr } = await run()
    const lines = (text: string) => text.trim().split('\n').length
    expect({ code, stdoutLines: lines(stdout), stderrLines: lines(stderr) }).toEqual({
      code: 0,
      stdoutLines: 1,
      stderrLines: 1,
    })
    expect(stderr).toMatch(new RegExp(`; trying again in ${seconds} s$`, 'm'))
    expect(stderr).not.toContain('undefined')
  },
)

const item = (booking_id: number, version: string) => ({
  booking_id,
  listing_id: 1,
  room_type_id: 1,
  status: 'pending',
  checkin_at: '2030-01-01',
  checkout_at: '2030-02-01',
  version,
})
const page = (...items: object[]) => {
  const next_cursor = items.length === 100 ? 'next' : null
  return Response.json({
    data: { Bookings: items },
    meta: { pagination: { total: items.length, next_cursor } },
  })
}

test('partnerctl feed poll exits 1 when the feed does not move forward, and its checkpoint never goes back', async () => {
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
  expect({ code: same.code, lines: same.stdout.trim().split('\n').length }).toEqual({ code: 1, lines: 100 })
  expect(same.stderr).toContain('does not move forward')
  expect(left()).toBe(3)
  const kept = await readFile(state, 'utf8')
  replyWith(() => page(item(1, '2026-01-01 00:01:40'), item(2, '2025-12-31 00:00:00')))
  const back = await run()
  expect(back).toMatchObject({ code: 1, stdout: '' })
  expect(await readFile(state, 'utf8')).toBe(kept)
})

test('partnerctl feed poll --json prints one whole document, even when it fails halfway or runs --exec', async () => {
  const actor = await service.actor()
  const { environment, replyWith } = await poller(actor)
  const first = [item(1, '2026-01-01 00:00:01'), item(2, '2026-01-01 00:00:02')]
  const poll = (...args: string[]) => partnerctl(['feed', 'poll', '--once', '--json', ...args], environment)
  replyWith(() => page(...first))
  const failing = await poll('--exec', 'echo noise; [ "$PARTNER_BOOKING_ID" = 1 ]')
  expect({ code: failing.code, printed: JSON.parse(failing.stdout) }).toEqual({
    code: 1,
    printed: [first[0]],
  })
  expect(failing.stderr).toContain('noise')
  replyWith(() => page(first[1] as object))
  const rest = await poll('--exec', 'echo noise')
  expect({ code: rest.code, printed: JSON.parse(rest.stdout) }).toEqual({ code: 0, printed: [first[1]] })
  replyWith(() => new Response(null, { status: 401 }))
  const refused = await poll()
  expect({ code: refused.code, stdout: refused.stdout.trim() }).toEqual({ code: 4, stdout: '[]' })
})

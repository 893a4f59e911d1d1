import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { sharedServices, testApp } from '../../support/app.ts'

/** Duration of each outage, longer than the seven seconds after which a client gives up after three retries. */
const outageMilliseconds = Number(process.env.OUTAGE_SECONDS ?? 12) * 1000

const service = await testApp()
const [{ url }] = sharedServices()
const folder = await mkdtemp(join(tmpdir(), 'partner-outage-'))
afterAll(() => rm(folder, { recursive: true }))
await Bun.build({
  entrypoints: [fileURLToPath(new URL('outage-loop.program.ts', import.meta.url))],
  target: 'node',
  outdir: folder,
  naming: 'loop.mjs',
})

/** The requests in a loop's cycle. In each test, one of them is the first to fail. */
const moments: Record<string, (method: string, path: string) => boolean> = {
  'the consumer is created': (method, path) => method === 'PUT' && path.endsWith('/consumers/sync'),
  'a page is read': (method) => method === 'GET',
  'a page is acknowledged': (method, path) => method === 'PUT' && path.endsWith('/consumers/sync'),
}

/** Starts a proxy that fails for a while from a moment's first request on: it responds 502 or refuses connections. */
async function startProxy(moment: string, isRefused: boolean) {
  const port = await freePort()
  let puts = 0
  let isDown = false
  let wasDown = false
  let server: Bun.Server<undefined> | undefined
  const listen = () => {
    server = Bun.serve({ hostname: '127.0.0.1', port, idleTimeout: 60, fetch: forward })
  }
  async function forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    if (request.method === 'PUT') puts += 1
    const isTurn =
      moments[moment]?.(request.method, pathname) && (moment !== 'a page is acknowledged' || puts > 1)
    if (isTurn && !wasDown) goDown()
    if (isDown) return new Response('<h1>502 Bad Gateway</h1>', { status: 502 })
    return fetch(`${url}${pathname}${search}`, {
      method: request.method,
      headers: request.headers,
      ...(request.method === 'GET' ? {} : { body: await request.text() }),
    })
  }
  function goDown() {
    isDown = true
    wasDown = true
    if (isRefused) setTimeout(() => server?.stop(true), 50)
    setTimeout(() => {
      isDown = false
      if (isRefused) listen()
    }, outageMilliseconds)
  }
  listen()
  return {
    url: `http://127.0.0.1:${port}`,
    wasDown: () => wasDown && !isDown,
    stop: () => server?.stop(true),
  }
}

/** Every moment in both runtimes, each with one kind of outage, or with both kinds if `OUTAGE_SECONDS` is set. */
const cases = ['node', process.execPath].flatMap((runtime, one) =>
  Object.keys(moments).flatMap((moment, other) =>
    [false, true]
      .filter((isRefused) => process.env.OUTAGE_SECONDS || isRefused === ((one + other) % 2 === 0))
      .map((isRefused) => ({ runtime, moment, isRefused, name: runtime === 'node' ? 'Node' : 'Bun' })),
  ),
)

test.concurrent.each(cases)(
  "a consumer's loop in $name survives an outage that begins when $moment (refused: $isRefused)",
  async ({ runtime, moment, isRefused }) => {
    const actor = await service.actor()
    await actor.send('POST', '/sandbox/scenarios/guest-books', { body: { count: 20 } })
    const proxy = await startProxy(moment, isRefused)
    const loop = Bun.spawn([runtime, join(folder, 'loop.mjs'), proxy.url, actor.key], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const seen: number[] = []
    const reading = (async () => {
      for await (const chunk of loop.stdout)
        seen.push(...new TextDecoder().decode(chunk).trim().split('\n').map(Number))
    })()
    const feed = '/sandbox/integrations/provider_one/bookings?per_page=100'
    const wanted = async () => {
      const { data } = (await actor.send('GET', feed)).body
      return data.Bookings.map((one: { booking_id: number }) => one.booking_id).sort()
    }
    while (!proxy.wasDown()) await Bun.sleep(200)
    await actor.send('POST', '/sandbox/scenarios/guest-books', { body: { count: 3 } })
    const all = await wanted()
    while (new Set(seen).size < all.length && loop.exitCode === null) await Bun.sleep(100)
    const { exitCode } = loop
    loop.kill('SIGKILL')
    await Promise.all([reading, loop.exited])
    proxy.stop()
    expect({ exitCode, seen: [...new Set(seen)].sort() }).toEqual({ exitCode: null, seen: all })
  },
)

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { createClient } from '../../client/src/index.ts'
import { takesKey } from '../../client/src/retry.ts'
import { freePort } from '../../src/platform/process.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { isSoak } from '../support/soak.ts'

const service = await testApp()
const [{ url }] = sharedServices()
const folder = await mkdtemp(join(tmpdir(), 'partner-client-'))
afterAll(() => rm(folder, { recursive: true }))

/** Starts a server that responds as other servers at the service's address might. */
function startForeign() {
  let followed = 0
  let others = 0
  let aways = 0
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const [, kind] = new URL(request.url).pathname.split('/')
      if (kind === 'followed') return new Response(String(followed))
      if (kind === 'target') {
        followed += 1
        return Response.json({ data: {} })
      }
      const error = (type: string) => ({ error: { type, message: 'No', request_id: 'r', errors: [] } })
      if (kind === '429')
        return Response.json(error('rate_limit_error'), { status: 429, headers: { 'retry-after': '400' } })
      if (kind === 'unknown') return Response.json(error('teapot'), { status: 418 })
      if (kind === 'redirect') return Response.redirect(`${server.url}target`, 302)
      const meta = { pagination: { next_cursor: 'next' } }
      const Bookings = [{ version: '2026-01-01 00:00:00' }]
      if (kind === 'stuck') return Response.json({ data: { Bookings }, meta })
      // Sends something other than the feed once, and then the feed.
      if (kind === 'other') {
        others += 1
        return Response.json({ data: others === 1 ? {} : { Bookings }, meta: {} })
      }
      // Sends a proxy's own page twice, and then the feed.
      if (kind === 'away') {
        aways += 1
        return aways <= 2
          ? new Response('<h1>Away</h1>', { status: aways === 1 ? 520 : 404 })
          : Response.json({ data: { Bookings }, meta: {} })
      }
      if (kind === 'json') return Response.json(['not an envelope'])
      if (kind === 'gone') return new Response('<h1>404</h1>', { status: 404 })
      if (kind === 'half') return new Response('{"data":', { headers: { 'content-length': '100' } })
      return new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } })
    },
  })
  return server
}

/** The runtime that partners have; the soak runs the suite in the service's own, too. */
const runtimes = isSoak ? ['node', 'bun'] : ['node']

test.concurrent.each(runtimes)('the client keeps its promises in %s', async (runtime) => {
  const built = await Bun.build({
    entrypoints: [fileURLToPath(new URL('suite.ts', import.meta.url))],
    target: 'node',
    outdir: folder,
    naming: `${runtime}.mjs`,
  })
  expect(built.success).toBe(true)
  const foreign = startForeign()
  const closed = `http://127.0.0.1:${await freePort()}`
  const program = runtime === 'bun' ? process.execPath : 'node'
  // The suite spends most of its time waiting, so its quarters run concurrently, each with its own sandbox.
  const run = async (share: string) => {
    const { key } = await service.actor()
    const of = [url, key, foreign.url.origin, closed, share]
    const child = Bun.spawn([program, join(folder, `${runtime}.mjs`), ...of], {
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const printed = await new Response(child.stdout).text()
    // The suite ends with 0 only after its last case.
    expect(await child.exited).toBe(0)
    return printed.trim().split('\n')
  }
  const lines = (await Promise.all(['0', '1', '2', '3'].map(run))).flat()
  const cases: { name: string; error: string | null }[] = lines.map((line) => JSON.parse(line))
  await foreign.stop(true)
  expect(cases.filter(({ error }) => error !== null)).toEqual([])
})

test('the client generates an Idempotency-Key for the operations that accept one, and for no others', async () => {
  const document = (await service.send('GET', '/openapi.json')).body
  for (const [path, methods] of Object.entries<Record<string, { parameters?: { name: string }[] }>>(
    document.paths,
  ))
    for (const [method, { parameters = [] }] of Object.entries(methods)) {
      const takes = parameters.some(({ name }) => name === 'Idempotency-Key')
      const sent = {
        method: method.toUpperCase(),
        path: path.replace(/^\/(v1|sandbox)/, '').replace(/\{\w+\}/g, '7'),
      }
      expect({ method, path, takesKey: takesKey(sent) }).toEqual({ method, path, takesKey: takes })
    }
})

/** Calls every method with the id 7, and returns the routes that were requested. */
async function askedFor(sandbox: boolean): Promise<Set<string>> {
  const asked = new Set<string>()
  const data = { Bookings: [], messages: [], digest: {}, played: {} }
  const fetch = async ({ method, url }: Request) => {
    const path = new URL(url).pathname.replace(/^\/(v1|sandbox)/, '')
    asked.add(`${method} ${path.replace(/\/(7|provider_one)(?=\/|$)/g, '/{}')}`)
    return Response.json({ data, meta: {} })
  }
  const walk = async (methods: object): Promise<void> => {
    for (const [name, member] of Object.entries(methods)) {
      if (typeof member === 'object') await walk(member)
      else if (name !== 'request') {
        const result = member('7', '7')
        if (Symbol.asyncIterator in result && !('then' in result)) for await (const _ of result);
        else await result
      }
    }
  }
  await walk(createClient({ key: 'k', baseUrl: 'http://127.0.0.1:1', sandbox, fetch }))
  return asked
}

test('the client has a method for every operation of the document, and for nothing else', async () => {
  const { paths } = (await service.send('GET', '/openapi.json')).body
  const documented = (root: string) => {
    const ofRoot = Object.entries<object>(paths).filter(
      ([path]) => path === root || path.startsWith(`${root}/`),
    )
    return ofRoot.flatMap(([path, methods]) => {
      const unnamed = path.slice(root.length).replace(/\{\w+\}/g, '{}')
      return Object.keys(methods).map((method) => `${method.toUpperCase()} ${unnamed}`)
    })
  }
  expect([...(await askedFor(false))].sort()).toEqual(documented('/v1').sort())
  expect([...(await askedFor(true))].sort()).toEqual(documented('/sandbox').sort())
})

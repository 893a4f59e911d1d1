import { expect, onTestFinished, test } from 'vitest'
import { createApiKey } from '../../src/access/keys/secret.ts'
import { loggedPath } from '../../src/http/logged-path.ts'
import { testApp } from '../support/app.ts'
import { startNginx } from '../support/nginx.ts'

/** Values that the service's own log shows, by parameter. All other parameters are ids. */
const shown: Record<string, string> = {
  ':provider': 'provider_one',
  ':name': 'nightly-sync',
  ':delivery_id': `msg_${'0a'.repeat(12)}`,
}
const key = createApiKey()
const secrets = [key, 'hunter2', 'ada@guests.example', '5550123456789012345', `x%2e${key}`]

const fill = (route: string, valueFor: (parameter: string) => string) =>
  route
    .split('/')
    .map((part) => (part.startsWith(':') ? valueFor(part) : part))
    .join('/')

test('the log of nginx shows paths as the log of the service does, and never a part that may be a secret', async () => {
  const service = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
  const proxy = await startNginx([service.port as number])
  onTestFinished(() => Promise.all([proxy.stop(), service.stop(true)]).then(() => {}))
  // One request has shown that nginx is up.
  const before = 1
  await expect.poll(async () => (await proxy.logged()).length).toBe(before)
  const send = (path: string) => proxy.fetch(proxy.url + path).then((response) => response.arrayBuffer())

  const { app } = await testApp()
  const routes = [...new Set(app.routes.map(({ path }) => path))].filter((path) => !/:file$|\*$/.test(path))
  const paths = routes.map((route) => fill(route, (parameter) => shown[parameter] ?? '417'))
  for (const path of paths) await send(path)
  const asService = routes.map((route, index) => loggedPath(route, paths[index] as string))
  await expect
    .poll(async () => (await proxy.logged()).slice(before).map(({ path }) => path))
    .toEqual(asService)

  const withParameters = routes.filter((route) => route.includes(':'))
  const unsafe = withParameters.flatMap((route) => secrets.map((secret) => fill(route, () => secret)))
  const unknown = secrets.flatMap((secret) => [`/${secret}`, `/v1/${secret}`, `/v1/users/417/${secret}`])
  for (const path of [...unsafe, ...unknown]) await send(path)
  const count = before + paths.length + unsafe.length + unknown.length
  await expect.poll(async () => (await proxy.logged()).length).toBe(count)
  const logged = (await proxy.logged()).slice(before + paths.length).map(({ path }) => path)
  // The name of a scenario may be any word, and the log of the service shows it too.
  const isNamed = (path: string) => /\/scenarios\/(hunter2|\d+)$/.test(path)
  const leaks = logged.filter((path) => /pis_|hunter2|ada|5550/.test(path) && !isNamed(path))
  expect({
    leaks,
    examples: [...new Set(logged)].filter((path) => /^\/(…|v1\/…|v1\/listings.*)$/.test(path)),
  }).toEqual({ leaks: [], examples: ['/v1/listings/…', '/…', '/v1/…'] })
})

test('the error log of nginx never quotes a request, not even one that finds no connection', async () => {
  const service = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') })
  // Connections to a link-local address without an interface fail with an error that nginx logs as critical.
  const proxy = await startNginx([service.port as number, '[fe80::1]:9'])
  onTestFinished(() => Promise.all([proxy.stop(), service.stop(true)]).then(() => {}))
  for (let n = 0; n < 4; n += 1)
    await (await proxy.fetch(`${proxy.url}/v1/users?email=ada&key=${key}`)).text()
  expect(await proxy.errors()).not.toMatch(/ada|pis_|request:/)
})

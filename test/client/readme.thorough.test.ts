import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { signatureHeaders } from '../../src/changes/webhooks/signature.ts'
import { freePort } from '../../src/platform/process.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { installClient } from '../support/samples.ts'
import { isSoak } from '../support/soak.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const service = await testApp()
const [{ url }] = sharedServices()
/** An empty project in which the package is installed as it is published. */
const project = await mkdtemp(join(tmpdir(), 'partner-package-'))
afterAll(() => rm(project, { recursive: true }))

const readme = await readFile(join(root, 'client/README.md'), 'utf8')
const examples = new Map(
  [...readme.matchAll(/## (.+)\n+```js\n([\s\S]*?)```/g)].map(([, title = '', code = '']) => [title, code]),
)
const runtimes = { node: 'node', bun: process.execPath }
type Runtime = keyof typeof runtimes
/** The runtime that partners have; the soak runs the examples in the service's own, too. */
const tried: Runtime[] = isSoak ? ['node', 'bun'] : ['node']

beforeAll(async () => {
  await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}')
  await installClient(project, url)
})

/** Writes an example to its own folder in the project, and returns a function that runs the example. */
async function start(runtime: Runtime, title: string, environment: Record<string, string>) {
  const folder = join(project, crypto.randomUUID())
  await mkdir(folder)
  await writeFile(join(folder, 'example.mjs'), examples.get(title) as string)
  const run = () =>
    Bun.spawn([runtimes[runtime], 'example.mjs'], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
      env: { PATH: process.env.PATH ?? '', PARTNER_BASE_URL: url, ...environment },
    })
  return async () => {
    const child = run()
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    return { stdout, stderr, code }
  }
}

const partner = async () => {
  const actor = await service.actor()
  return { actor, environment: { PARTNER_API_KEY: actor.key } }
}

test('each section of the package with code is an example that a test runs', () => {
  expect([...examples.keys()]).toEqual([
    'Check the key',
    'Book safely',
    'Follow the feed with a checkpoint of your own',
    'Follow the feed as a consumer',
    'Verify a hint',
    'Test your integration',
  ])
})

test.concurrent.each(tried)('the examples work in %s', async (runtime) => {
  const { actor, environment } = await partner()
  const check = await (await start(runtime, 'Check the key', environment))()
  expect(check).toMatchObject({
    stderr: '',
    stdout: expect.stringMatching(/^Test key may .*bookings\.read.* requests left\n$/),
  })
  const book = await start(runtime, 'Book safely', environment)
  const first = await book()
  const again = await book()
  expect(first).toEqual({ code: 0, stderr: '', stdout: expect.stringMatching(/^Booked as \d+\n$/) })
  expect(again).toEqual(first)
  const played = await (await start(runtime, 'Test your integration', environment))()
  expect(played).toMatchObject({ stderr: '', stdout: '3 guests have booked\nAnswers still to be lost: 0\n' })
  const { data } = (await actor.send('GET', '/sandbox/integrations/provider_one/bookings')).body
  const all = data.Bookings.map((one: Record<string, unknown>) => `${one.booking_id} ${one.status}\n`).join(
    '',
  )
  for (const title of ['Follow the feed with a checkpoint of your own', 'Follow the feed as a consumer']) {
    const follow = await start(runtime, title, environment)
    expect(await follow(), title).toEqual({ code: 0, stderr: '', stdout: all })
    expect(await follow(), title).toEqual({ code: 0, stderr: '', stdout: '' })
  }
})

test.concurrent.each(tried)('the receiver of hints works in %s', async (runtime) => {
  const port = await freePort()
  const secret = `whsec_${btoa('s'.repeat(32))}`
  const folder = join(project, crypto.randomUUID())
  await mkdir(folder)
  await writeFile(join(folder, 'example.mjs'), examples.get('Verify a hint') as string)
  const child = Bun.spawn([runtimes[runtime], 'example.mjs'], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'inherit',
    env: { PATH: process.env.PATH ?? '', WEBHOOK_SECRET: secret, PORT: String(port) },
  })
  const body = JSON.stringify({ type: 'booking.changed', timestamp: 'now', data: { booking_id: 77 } })
  const post = async (sent: string) => {
    const headers = signatureHeaders({ id: 'm', at: new Date(), body }, [secret])
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body: sent }).catch(
        () => null,
      )
      if (answer) return answer.status
      await Bun.sleep(20)
    }
  }
  expect({ genuine: await post(body), forged: await post(body.replace('77', '78')) }).toEqual({
    genuine: 204,
    forged: 401,
  })
  child.kill('SIGTERM')
  expect(await new Response(child.stdout).text()).toBe('77\n')
})

test('the package is small, and unused parts are left out of a bundle', async () => {
  const sizes = await Promise.all(
    [
      "export * from '@partner-interface/client'",
      "export { verifyWebhook } from '@partner-interface/client'",
    ].map(async (code, index) => {
      const entry = join(project, `entry-${index}.js`)
      await writeFile(entry, code)
      const { outputs } = await Bun.build({ entrypoints: [entry], minify: true, target: 'browser' })
      return Bun.gzipSync(await (outputs[0] as Blob).arrayBuffer(), { level: 9 }).length
    }),
  )
  const [all, verify] = sizes as [number, number]
  expect(all).toBeLessThanOrEqual(12_000)
  expect(verify).toBeLessThan(all / 2)
})

import { readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'vitest'
import { profiles, rules } from '../../../src/certification/course/cases.ts'
import { freePort } from '../../../src/platform/process.ts'
import { makeActor, sender, testEnvironment } from '../../support/app.ts'
import { certifyingService } from '../../support/certifying.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'
import { killSample, makeProject, startSample } from '../../support/samples.ts'
import { fast } from './times.ts'

test("the guide's product is certified in all four profiles as it stands, and restarts after each kill", async ({
  expect,
  onTestFinished,
}) => {
  const environment = testEnvironment({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' })
  // This process only creates the key; it never renews the leader's lease.
  const maker = await certifyingService({ ...fast, checkInterval: 1_000_000_000 }, environment)
  onTestFinished(() => maker.close())
  // The client pauses for five seconds after a held request that ends early, which must not count as a stop.
  const BOUNDS = JSON.stringify({ silence: 8000, quick: 5000 })
  const service = await startService({ ...environment, BOUNDS }, [], 'test/soak/certify/main.ts')
  onTestFinished(() => service.stop())
  const actor = await makeActor(maker.context.live, sender(fetch, service.url), { rateLimit: 1000 })
  const folder = await makeProject(service.url)
  onTestFinished(() => rm(folder, { recursive: true }))
  const code = await (await fetch(`${service.url}/guide/product.mjs`)).text()
  await writeFile(join(folder, 'product.mjs'), code)
  const PORT = String(await freePort())
  const run = (command: string) =>
    startSample({ language: 'sh', kind: undefined, code: `exec node product.mjs ${command}` }, folder, {
      PARTNER_BASE_URL: service.url,
      PARTNER_API_KEY: actor.key,
      PORT,
      HOOK_URL: `http://127.0.0.1:${PORT}/hook`,
    })
  const driver = await run(`certify ${profiles.join(' ')}`)
  onTestFinished(() => (driver.exitCode === null ? killSample(driver) : undefined))
  const [printed, complaints] = await Promise.all([
    new Response(driver.stdout).text(),
    new Response(driver.stderr).text(),
  ])
  await driver.exited
  const graded = printed.split('\n').filter((line) => /^(passed|failed|skipped|waiting) /.test(line))
  expect(graded.map((line) => line.trim())).toEqual(Object.keys(rules).map((name) => `passed ${name}`))
  expect(printed).toMatch(/^stop: /m)
  // The product exits only after a 401.
  expect(complaints.match(/^The product has ended: /gm)).toHaveLength(1)
  expect((await readFile(join(folder, 'report.jws'), 'utf8')).split('.')).toHaveLength(3)

  // A crash before the secret is stored must neither leave an extra webhook nor lose a hint.
  await rm(join(folder, 'webhook.json'))
  const product = await run('')
  onTestFinished(() => killSample(product))
  const webhooks = async () => (await actor.send('GET', '/sandbox/webhooks')).body.data
  const [{ id }] = await webhooks()
  await expect.poll(() => readFile(join(folder, 'webhook.json'), 'utf8').catch(() => '')).toContain('whsec_')
  // The product's endpoint is also reachable by strangers.
  const { promise: hasLeft, resolve: leave } = Promise.withResolvers<void>()
  const stranger = connect(Number(PORT), '127.0.0.1', () => {
    stranger.end('POST / HTTP/1.1\r\nhost: product\r\ncontent-length: 100\r\n\r\n{', () => leave())
  })
  await hasLeft
  await fetch(`http://127.0.0.1:${PORT}/hook`, { method: 'POST', body: 'x'.repeat(100_000) }).catch(
    () => null,
  )
  const tested = await actor.send('POST', `/sandbox/webhooks/${id}/test`)
  expect({ status: tested.body.data.status, webhooks: (await webhooks()).length }).toEqual({
    status: 'delivered',
    webhooks: 1,
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { updateKey } from '../../src/access/keys/store.ts'
import { freePort } from '../../src/platform/process.ts'
import { testApp, testEnvironment } from '../support/app.ts'
import { makeCertificates } from '../support/certificates.ts'
import { checkNginxConfiguration, startNginx, writeNginxConfiguration } from '../support/nginx.ts'
import { startService } from '../support/processes.ts'

const observer = await testApp()

test('nginx accepts the configuration without a warning', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-nginx-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await makeCertificates(folder)
  const file = await writeNginxConfiguration(folder, await freePort(), [3001, 3002])
  expect(await checkNginxConfiguration(file)).toEqual([
    `nginx: the configuration file ${file} syntax is ok`,
    `nginx: configuration file ${file} test is successful`,
  ])
})

test('behind nginx a client has its own address, metrics are closed, and a body is refused in the envelope', async () => {
  const METRICS_TOKEN = 'a token for this test'
  const service = await startService({ ...testEnvironment({ TRUSTED_PROXIES: '127.0.0.1' }), METRICS_TOKEN })
  const proxy = await startNginx([Number(new URL(service.url).port)])
  onTestFinished(() => Promise.all([proxy.stop(), service.stop()]).then(() => {}))

  const actor = await observer.actor()
  await updateKey(observer.live.db, String(actor.keyId), { allowed_from: ['127.0.0.2/32'] })
  /** Returns the status of a request that comes from `address` and claims to come from `claimed`. */
  const statusFrom = async (address: string, claimed: string) => {
    const headers = ['-H', `x-api-key: ${actor.key}`, '-H', `x-forwarded-for: ${claimed}`]
    const request = ['-s', '-o', '/dev/null', '-w', '%{http_code}', `${proxy.url}/v1/me`]
    const sent = Bun.$`curl --interface ${address} ${headers} ${request}`.env(proxy.environment)
    return (await sent.quiet()).stdout.toString()
  }
  expect({
    allowed: await statusFrom('127.0.0.2', '127.0.0.3'),
    claiming: await statusFrom('127.0.0.3', '127.0.0.2'),
  }).toEqual({ allowed: '200', claiming: '403' })

  const authorization = `Bearer ${METRICS_TOKEN}`
  const statusOf = async (url: string) => (await proxy.fetch(url, { headers: { authorization } })).status
  expect((await fetch(`${service.url}/metrics`, { headers: { authorization } })).status).toBe(200)
  for (const path of [
    '/metrics',
    '/metrics/',
    '/metrics/x',
    '/%6detrics',
    '//metrics',
    '/metrics?x',
    '/METRICS',
  ])
    expect({ path, status: await statusOf(proxy.url + path) }).toEqual({ path, status: 404 })
  // The service would resolve these paths to /metrics, but nginx would not.
  for (const path of [
    '/x%2fy/../metrics',
    '/a%5C..%5Cmetrics',
    '/a\\..\\metrics',
    '/v1/x%2Fy/../../metrics',
  ]) {
    const request = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--path-as-is', proxy.url + path]
    const sent = Bun.$`curl -H ${`authorization: ${authorization}`} ${request}`.env(proxy.environment)
    expect({ path, status: (await sent.quiet()).stdout.toString() }).toEqual({ path, status: '400' })
  }
  expect(await statusOf(`${proxy.url}/metrics?of=a%2fb`)).toBe(404)
  // pnpm and Yarn escape the slash in the name of a package.
  for (const path of [
    '/npm/@partner-interface%2fclient',
    '//npm/@partner-interface%2Fclient',
    '/npm/@partner-interface%2fclient/latest',
  ])
    expect({ path, status: await statusOf(proxy.url + path) }).toEqual({ path, status: 200 })

  const other = await observer.actor()
  const post = async (bytes: number) => {
    const headers = { 'x-api-key': other.key, 'content-type': 'application/json' }
    const body = JSON.stringify({ special: 'x'.repeat(bytes) })
    const response = await proxy.fetch(`${proxy.url}/v1/users`, { method: 'POST', headers, body })
    return {
      status: response.status,
      contentType: response.headers.get('content-type'),
      body: await response.json(),
    }
  }
  const refusal = (message: string) => ({
    status: 413,
    contentType: expect.stringMatching(/^application\/json/),
    body: {
      error: expect.objectContaining({
        type: 'validation_error',
        errors: [{ path: 'body', code: 'max', message }],
      }),
    },
  })
  expect(await post(2 ** 21)).toEqual(refusal('The body must be at most 1048576 bytes'))
  expect(await post(12 * 2 ** 20)).toEqual(refusal('The body must be at most 10 MiB'))

  const statuses: number[] = []
  for (let count = 0; count < 10; count += 1) {
    const refused = { method: 'POST', headers: { 'x-api-key': 'wrong' }, body: 'x'.repeat(1_000_000) }
    statuses.push((await proxy.fetch(`${proxy.url}/v1/users`, refused)).status)
  }
  expect(statuses).toEqual(Array(10).fill(401))
})

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { updateKey } from '../../src/access/keys/store.ts'
import { freePort } from '../../src/platform/process.ts'
import { sender, testApp, testEnvironment } from '../support/app.ts'
import { makeCertificates } from '../support/certificates.ts'
import { seriesOf } from '../support/metrics.ts'
import {
  checkNginxConfiguration,
  startNginx,
  withLimitsOfIngress,
  writeNginxConfiguration,
} from '../support/nginx.ts'
import { root, startService } from '../support/processes.ts'
import { openRaw, rawHead } from '../support/raw-connection.ts'

const observer = await testApp()
const METRICS_TOKEN = 'a token for this file'
const service = await startService({ ...testEnvironment({ TRUSTED_PROXIES: '127.0.0.1' }), METRICS_TOKEN })
afterAll(() => service.stop())

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
  const proxy = await startNginx([Number(new URL(service.url).port)])
  onTestFinished(() => proxy.stop())

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

const heldPerKey = 5
/** As many keys as it takes to hold 256 polls. */
const actors = await Promise.all(Array.from({ length: Math.ceil(256 / heldPerKey) }, () => observer.actor()))

const feed = '/v1/integrations/provider_one/bookings'

const scrape = () =>
  sender(fetch, service.url)('GET', '/metrics', { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
const heldNow = async () => seriesOf((await scrape()).text).get('held_requests')

/** Queries of polls that may be held. The last one is how nginx and the service may read a query differently. */
const ofHeldPolls = ['wait=5', '%77ait=5', 'per_page=1&wa%69t=05', 'wait=0&wait=9', 'wait=%31', '#&wait=9']
/** Queries of requests that are never held. */
const ofOthers = [
  '',
  'wait=0',
  'wait=00',
  'wait=%30',
  'wait',
  'wait=',
  'await=5',
  'waiting=5',
  'page=1?wait=5',
]

test.for([
  { name: 'the shipped nginx', adapt: undefined },
  { name: "the Ingress controller's settings", adapt: withLimitsOfIngress },
])(
  'with $name, the held polls of one address keep no other request out, and one too many is refused in the envelope',
  async ({ adapt }) => {
    const proxy = await startNginx([Number(new URL(service.url).port)], adapt)
    onTestFinished(() => proxy.stop())
    /** Sends a request on a connection of its own. */
    const open = async (query: string, key: string | undefined) => {
      const connection = await openRaw(proxy.url)
      onTestFinished(() => connection.close())
      await connection.send(rawHead(`GET ${feed}?${query}`, [], key))
      return connection
    }
    // A poll that was just left takes its key's place for a moment.
    await expect.poll(heldNow, { interval: 150 }).toBe(0)
    const polls: string[] = actors.flatMap(({ key }) => Array(heldPerKey).fill(key)).slice(0, 256)
    const pollers = await Promise.all(
      polls.map(async (key) => ({ key, asked: 1, connection: await open('wait=30', key) })),
    )
    let isOver = false
    /** Asks again on each connection whose poll has ended, because what follows may take longer than a poll is held. */
    const keepPolling = async () => {
      while (!isOver) {
        for (const poller of pollers) {
          const { key, asked, connection } = poller
          const answered = connection.received().split('HTTP/1.1 ').length - 1
          if (answered < asked) continue
          poller.asked += 1
          void connection.send(rawHead(`GET ${feed}?wait=30`, [], key))
        }
        await Bun.sleep(20)
      }
    }
    void keepPolling()
    onTestFinished(() => {
      isOver = true
    })
    const { key } = await observer.actor()
    const refusal = async () => {
      const response = await proxy.fetch(`${proxy.url}${feed}?wait=1`, { headers: { 'x-api-key': key } })
      const { status, headers } = response
      return { status, headers: Object.fromEntries(headers), body: await response.json() }
    }
    await expect.poll(heldNow, { interval: 150 }).toBe(256)

    // When a held poll ends, this request may take its place and be held instead of refused.
    let refused = await refusal()
    while (refused.status !== 429) refused = await refusal()
    const { status, headers, body } = refused
    const requestId = expect.stringMatching(/^[0-9a-f-]{32,36}$/)
    expect({ status, headers, body }).toMatchObject({
      status: 429,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'retry-after': '5',
        'x-request-id': body.error.request_id,
      },
      body: {
        error: {
          type: 'rate_limit_error',
          message: 'Too many polls from this address are held; leave out "wait", or try again in 5 s',
          request_id: requestId,
          errors: [{ path: 'retry_after', code: 'rate_limited', message: '5' }],
        },
      },
    })

    const statusOf = async (query: string) => {
      const connection = await open(query, key)
      await connection.until(/^HTTP\/1\.1 \d+/)
      return Number(connection.received().slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length))
    }
    for (const query of ofHeldPolls)
      await expect
        .poll(async () => ({ query, status: await statusOf(query) }))
        .toEqual({ query, status: 429 })
    for (const query of ofOthers)
      expect({ query, status: await statusOf(query) }).not.toEqual({ query, status: 429 })

    if (adapt) return
    const id = body.error.request_id
    await expect
      .poll(async () => (await proxy.logged()).filter(({ request_id }) => request_id === id))
      .toMatchObject([{ path: feed, status: 429, refused_by: 'held_polls' }])
    const others = (await proxy.logged()).filter(({ status }) => status !== 429)
    expect(others.filter(({ refused_by }) => refused_by !== '')).toEqual([])
  },
)

test('all held polls together leave a fifth of the connections of one worker to other requests, with each proxy', async () => {
  const shipped = await readFile(join(root, 'deploy/nginx/nginx.conf'), 'utf8')
  const ingress = await readFile(join(root, 'deploy/kubernetes/ingress-nginx.yaml'), 'utf8')
  const connectionsPerPoll = 2
  for (const [text, pattern] of [
    [shipped, /worker_connections (\d+);/],
    [ingress, /max-worker-connections: "(\d+)"/],
  ] as const) {
    const polls = Number(/limit_conn held_polls_of_all (\d+);/.exec(text)?.[1])
    expect(polls).toBeGreaterThan(0)
    expect(polls * connectionsPerPoll).toBeLessThanOrEqual(Number(pattern.exec(text)?.[1]) * 0.8)
  }
})

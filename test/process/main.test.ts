import { expect, inject, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../support/app.ts'
import { runService, startService } from '../support/processes.ts'

test('src/main.ts exits 2 with one line for each wrong setting', async () => {
  const { code, lines } = await runService({
    PORT: '70000',
    LOG_LEVEL: 'loud',
    MONGODB_URL: 'http://x',
    TRUSTED_PROXIES: '10.0.0.0/8,nonsense',
    DEFAULT_CURRENCY: 'EURO',
    SECRET_KEY: 'hunter2',
    REQUEST_IDS: 'maybe',
  })
  expect(code).toBe(2)
  expect(lines).toHaveLength(7)
  for (const name of [
    'PORT',
    'LOG_LEVEL',
    'MONGODB_URL',
    'TRUSTED_PROXIES',
    'DEFAULT_CURRENCY',
    'SECRET_KEY',
    'REQUEST_IDS',
  ]) {
    expect(lines.filter((line) => line.startsWith(`${name} `))).toHaveLength(1)
  }
  expect(lines.join()).not.toContain('hunter2')
})

test.each(['1', '2'])(
  'src/main.ts with %s workers exits 1 with one line when the port is in use',
  async (WORKERS) => {
    // Workers share their port with each other, so the service must also refuse a port that another program shares.
    const options = { port: 0, hostname: '127.0.0.1', reusePort: true }
    const taken = Bun.serve({ ...options, fetch: () => new Response('') })
    // Without Redis, a service that starts logs a warning.
    const { MONGODB_URL = '' } = testEnvironment()
    const { code, lines } = await runService({ MONGODB_URL, WORKERS, PORT: String(taken.port) })
    await taken.stop()
    expect({ code, lines }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^Cannot listen on 127\.0\.0\.1:\d+/)],
    })
  },
)

/** The service's whole life: it starts, refuses a request, and gets SIGTERM while thirty others are in progress. */
async function oneLife(secret: string) {
  const { actor } = await testApp()
  const someone = await actor()
  const MONGODB_URL = inject('mongodbUrl').replace('?', '?appName=opt1on&')
  const environment = testEnvironment({ MONGODB_URL, METRICS_TOKEN: secret, LOG_LEVEL: 'info' })
  const service = await startService(environment)
  await fetch(`${service.url}/v1/me`)
  const send = sender(fetch, service.url)
  const inFlight = Array.from({ length: 30 }, (_, index) =>
    send('POST', '/v1/users', {
      key: someone.key,
      body: { email: `sig${index}@example.com`, first_name: 'A', last_name: 'B', password: 'long enough' },
    }),
  )
  await Bun.sleep(30)
  const ended = service.end('SIGTERM')
  const statuses = (await Promise.all(inFlight)).map(({ status }) => status)
  return { statuses, code: await ended, output: service.output() }
}

const secret = 'S3cret'.repeat(8)
const life = await oneLife(secret)

test('src/main.ts finishes the requests in flight on SIGTERM and exits 0', () => {
  expect(life.statuses).toEqual(Array(30).fill(201))
  expect(life.code).toBe(0)
})

test("start and shutdown log one line each, with the settings but no secret, and a 401 logs the client's address", () => {
  const lines = life.output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  const lineOf = (msg: string) => lines.filter((line) => line.msg === msg)
  expect(lineOf('Listening')).toMatchObject([
    {
      version: '1.0.0',
      settings: { workers: 1, hasMetricsToken: true, mongodb: expect.stringMatching(/^127\.0\.0\.1:\d+$/) },
      servers: { mongodb: expect.stringMatching(/^\d+\.\d+/), redis: expect.stringMatching(/^\d+\.\d+/) },
    },
  ])
  expect(lineOf('Shutting down')).toMatchObject([{ reason: 'asked' }])
  expect(lines.find(({ status }) => status === 401)).toMatchObject({ address: '127.0.0.1' })
  expect(life.output).not.toMatch(/S3cret|opt1on/)
})

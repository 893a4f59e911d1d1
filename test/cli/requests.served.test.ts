import { expect, test } from 'vitest'
import { partnerctlHere } from '../support/admin.ts'
import { sharedServices, testApp, testEnvironment } from '../support/app.ts'
import { commandLine } from '../support/command-line.ts'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()
const environmentOf = (key: string) => ({
  PATH: process.env.PATH ?? '',
  PARTNER_BASE_URL: server.url,
  PARTNER_API_KEY: key,
})

/** Sends a booking that the service refuses, and returns its request id. */
async function refusedBooking(key: string): Promise<string> {
  const response = await fetch(`${server.url}/v1/bookings?secret=value`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify({ user_id: 1, checkin_at: 'tomorrow' }),
  })
  expect(response.status).toBe(422)
  return response.headers.get('x-request-id') as string
}

/** Lists requests until at least one is shown, which may take 2 seconds. */
async function listed(args: string[], environment: Record<string, string>, run = partnerctl) {
  for (;;) {
    const list = ['requests', 'list', ...args, '--json']
    const result = await run(list, environment)
    const rows = result.code === 0 ? JSON.parse(result.stdout) : []
    if (rows.length > 0 || result.code !== 0) return { ...result, rows }
    await Bun.sleep(100)
  }
}

test.concurrent('a partner finds out by its request id why a booking was refused, and an administrator too', async () => {
  const actor = await service.actor()
  const id = await refusedBooking(actor.key)
  const { rows } = await listed(['--request-id', id], environmentOf(actor.key))
  expect(rows).toMatchObject([{ request_id: id, path: '/v1/bookings', status: 422 }])
  expect(rows[0]).not.toHaveProperty('host_id')
  const text = await partnerctl(['requests', 'list', '--request-id', id], environmentOf(actor.key))
  expect(text.stdout).toContain('422  POST /v1/bookings')
  expect(text.stdout).toContain(
    'checkin_at: "checkin_at" must be a real calendar date written YYYY-MM-DD (invalid)',
  )
  for (const owner of [['--host', String(actor.hostId)], ['--key', String(actor.keyId)], ['--admin']]) {
    const found = await listed([...owner, '--request-id', id], testEnvironment(), partnerctlHere)
    expect(found.rows).toMatchObject([{ host_id: actor.hostId, key_id: actor.keyId, request_id: id }])
  }
})

test.concurrent('requests list is limited to a status and a time, and reads on beyond one page', async () => {
  const actor = await service.actor()
  const get = (path: string) => fetch(server.url + path, { headers: { 'x-api-key': actor.key } })
  for (let count = 0; count < 130; count += 1) await get('/v1/me')
  await get('/v1/listings/1')
  const environment = environmentOf(actor.key)
  await listed(['--status', '404'], environment)
  const { rows, stderr } = await listed(['--status', '2xx', '--since', '1h', '--limit', '120'], environment)
  expect(rows).toHaveLength(120)
  expect(stderr).toContain('There are more than 120')
  expect((await listed(['--status', '2xx,4xx', '--limit', '1000'], environment)).rows).toHaveLength(131)
  const later = await partnerctl(['requests', 'list', '--since', '2099-01-01'], environment)
  expect(later.stdout).toBe('No requests\n')
})

test.each([
  [['--status', '999'], '"999" is not a status such as'],
  [['--since', 'yesterday'], 'is neither a time such as'],
  [['--key', `pis_${'a'.repeat(38)}`], 'Identify the key by its id or its first 12 characters'],
  [['--since', '999999999d'], '"999999999d" is longer than 400d'],
  [['--admin', '--profile', 'x'], 'Option --profile cannot be used with --host, --key or --admin'],
])('requests list %j is wrong usage', async (args, message) => {
  const environment = { ...environmentOf(wellFormedKey), ...testEnvironment() }
  const result = await partnerctlHere(['requests', 'list', ...args], environment)
  expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(message) })
})

test.concurrent('requests tail shows each request once, as it comes', async () => {
  const actor = await service.actor()
  const first = await refusedBooking(actor.key)
  const child = Bun.spawn([...commandLine, 'requests', 'tail', '--output', 'ndjson'], {
    env: environmentOf(actor.key),
    stdout: 'pipe',
    stderr: 'ignore',
  })
  let output = ''
  const reading = child.stdout.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({
      write(text) {
        output += text
      },
    }),
  )
  const shows = async (id: string) => {
    while (!output.includes(id)) await Bun.sleep(50)
  }
  await shows(first)
  const ids = [first]
  for (let count = 0; count < 3; count += 1) {
    const id = await refusedBooking(actor.key)
    ids.push(id)
    await shows(id)
  }
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
  await reading
  const lines = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).request_id)
  expect(lines).toEqual(ids)
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { fillListings } from '../../support/large-listings.ts'
import { startNginx } from '../../support/nginx.ts'
import { startService } from '../../support/processes.ts'
import { openRaw, type RawConnection, rawHead } from '../../support/raw-connection.ts'
import { controlOf, millisecondsOf, soakFactor } from '../../support/soak.ts'

const mebibyte = 1024 * 1024
const observer = await testApp()
const service = await startService(testEnvironment({ TRUSTED_PROXIES: '127.0.0.1' }))
const proxy = await startNginx([Number(new URL(service.url).port)])
const folder = await mkdtemp(join(tmpdir(), 'partner-refusals-'))
afterAll(() =>
  Promise.all([proxy.stop(), service.stop(), rm(folder, { recursive: true, force: true })]).then(() => {}),
)

const someone = await observer.actor()
const reader = await observer.actor({ permissions: ['listings.read'] })
const limited = await observer.actor({ rateLimit: 1 })
const send = sender(fetch, service.url)

/** Environment in which `node` is Node even if the tests run in Bun. */
const clientEnvironment = {
  PATH: (process.env.PATH ?? '')
    .split(':')
    .filter((entry) => !entry.includes('bun-node'))
    .join(':'),
  ...proxy.environment,
}

/** A request that is refused before its body has been read. */
interface Refused {
  status: number
  method: string
  path: string
  headers: Record<string, string>
  bytes: number
}

const reasons: Omit<Refused, 'bytes'>[] = [
  // First, because the key's limit allows another request after a minute.
  { status: 429, method: 'POST', path: '/v1/users', headers: { 'x-api-key': limited.key } },
  { status: 401, method: 'POST', path: '/v1/users', headers: {} },
  { status: 403, method: 'POST', path: '/v1/users', headers: { 'x-api-key': reader.key } },
  { status: 404, method: 'POST', path: '/v1/nothing', headers: {} },
  { status: 404, method: 'PUT', path: '/v1/users', headers: { 'x-api-key': someone.key } },
  {
    status: 422,
    method: 'POST',
    path: '/v1/bookings',
    headers: { 'x-api-key': someone.key, 'idempotency-key': 'k'.repeat(300) },
  },
]
const sizes = [90_000, 1_000_000, 9_000_000]
const refused: Refused[] = reasons.flatMap((reason) => sizes.map((bytes) => ({ ...reason, bytes })))
refused.push({
  status: 413,
  method: 'POST',
  path: '/v1/users',
  headers: { 'x-api-key': someone.key },
  bytes: 9_000_000,
})

/** Sends all requests with a program, which reads them from standard input and prints the outcome of each try. */
const programs = {
  'node fetch': [
    'node',
    '--input-type=module',
    '-e',
    `import { readFileSync } from 'node:fs'
    const { url, tries, refused } = JSON.parse(readFileSync(0, 'utf8'))
    const outcomes = []
    for (const { method, path, headers, bytes } of refused) for (let one = 0; one < tries; one += 1) {
      const body = 'x'.repeat(bytes)
      try {
        const response = await fetch(url + path, { method, headers, body })
        await response.json()
        outcomes.push(response.status)
      } catch (error) { outcomes.push(String(error.cause ?? error)) }
    }
    console.log(JSON.stringify(outcomes))`,
  ],
  'node http': [
    'node',
    '--input-type=module',
    '-e',
    `import { readFileSync } from 'node:fs'
    import http from 'node:http'
    import https from 'node:https'
    const { url, tries, refused } = JSON.parse(readFileSync(0, 'utf8'))
    const send = ({ method, path, headers, bytes }) => new Promise((resolve) => {
      const { request } = url.startsWith('https') ? https : http
      const sent = request(url + path, { method, headers: { ...headers, 'content-length': bytes } }, (response) => {
        let text = ''
        response.on('data', (data) => { text += data })
        response.on('end', () => { JSON.parse(text); resolve(response.statusCode) })
        response.on('error', (error) => resolve(String(error)))
      })
      sent.on('error', (error) => resolve(String(error)))
      sent.end('x'.repeat(bytes))
    })
    const outcomes = []
    for (const one of refused) for (let count = 0; count < tries; count += 1) outcomes.push(await send(one))
    console.log(JSON.stringify(outcomes))
    process.exit()`,
  ],
  'bun fetch': [
    process.execPath,
    '-e',
    `const { url, tries, refused } = await Bun.stdin.json()
    const outcomes = []
    for (const { method, path, headers, bytes } of refused) for (let one = 0; one < tries; one += 1) {
      try {
        const response = await fetch(url + path, { method, headers, body: 'x'.repeat(bytes) })
        await response.json()
        outcomes.push(response.status)
      } catch (error) { outcomes.push(String(error)) }
    }
    console.log(JSON.stringify(outcomes))
    process.exit()`,
  ],
  'python http.client': [
    'python3',
    '-c',
    `import http.client, json, sys
from urllib.parse import urlsplit
given = json.load(sys.stdin)
url = urlsplit(given['url'])
connection = http.client.HTTPSConnection if url.scheme == 'https' else http.client.HTTPConnection
outcomes = []
for one in given['refused']:
    for count in range(given['tries']):
        try:
            sent = connection(url.hostname, url.port, timeout=60)
            sent.request(one['method'], one['path'], b'x' * one['bytes'], one['headers'])
            response = sent.getresponse()
            json.loads(response.read())
            outcomes.append(response.status)
            sent.close()
        except Exception as error:
            outcomes.append(repr(error))
print(json.dumps(outcomes))`,
  ],
}

/** Sends all requests with curl, which reports a status only if its transfer has succeeded. */
async function sendWithCurl(url: string, tries: number, more: string[]): Promise<(number | string)[]> {
  const outcomes: (number | string)[] = []
  for (const { status, method, path, headers, bytes } of refused) {
    const file = join(folder, `${bytes}`)
    await Bun.write(file, 'x'.repeat(bytes))
    const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
    const options = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-X', method, ...lines, ...more]
    for (let count = 0; count < tries; count += 1) {
      // Many tries take more than a minute, after which the limit allows one more request.
      if (status === 429) await send('GET', '/v1/me', { key: limited.key })
      const sent = await Bun.$`curl ${options} --data-binary @${file} ${url + path}`
        .env(clientEnvironment)
        .quiet()
        .nothrow()
      outcomes.push(sent.exitCode === 0 ? Number(sent.stdout) : `exit code ${sent.exitCode}`)
    }
  }
  return outcomes
}

async function sendWithProgram(url: string, tries: number, command: string[]): Promise<(number | string)[]> {
  const child = Bun.spawn(command, {
    env: clientEnvironment,
    stdin: new Blob([JSON.stringify({ url, tries, refused })]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  return JSON.parse(await new Response(child.stdout).text())
}

const clients: Record<string, (url: string, tries: number) => Promise<(number | string)[]>> = {
  curl: (url, tries) => sendWithCurl(url, tries, []),
  'curl without Expect': (url, tries) => sendWithCurl(url, tries, ['-H', 'Expect:']),
}
for (const [name, command] of Object.entries(programs))
  clients[name] = (url, tries) => sendWithProgram(url, tries, command)

const tries = 3 * soakFactor

/** Sends half a body and waits for its 408, after which the connection must be usable. */
async function sendLateBody(): Promise<void> {
  const connection = await openRaw(service.url)
  await connection.send(rawHead('POST /v1/users', ['Content-Length: 200000'], someone.key))
  await connection.send(Buffer.alloc(100_000, 'x'))
  await connection.until(/^HTTP\/1.1 408 [\s\S]*\r\n0\r\n\r\n$/)
  await connection.send(Buffer.alloc(100_000, 'x'))
  await connection.send(rawHead('GET /v1/me', [], someone.key))
  await connection.until(/HTTP\/1.1 200 OK/)
  connection.close()
}

// Begun before the other tests and awaited after them, because the service waits for a body for half a minute.
let late: Promise<void>
beforeAll(() => {
  late = sendLateBody()
  late.catch(() => {})
})

test.each(
  Object.keys(clients).flatMap((client) => ['directly', 'behind nginx'].map((way) => [client, way] as const)),
)('%s gets every refusal of a large body %s', async (client, way) => {
  const url = way === 'directly' ? service.url : proxy.url
  await send('GET', '/v1/me', { key: limited.key })
  const outcomes = await clients[client]?.(url, tries)
  const lost: Record<string, number> = {}
  for (const [index, { status, bytes }] of refused.entries())
    for (const outcome of outcomes?.slice(index * tries, (index + 1) * tries) ?? []) {
      if (outcome === status) continue
      const what = `${outcome} instead of ${status} for ${bytes} bytes`
      lost[what] = (lost[what] ?? 0) + 1
    }
  expect({ tries: outcomes?.length, lost }).toEqual({ tries: refused.length * tries, lost: {} })
})

test('a body that is late gets 408, and the connection is used again', () => late)

async function memoryOf(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text()
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

test('64 refused bodies that arrive at once take up little memory', async () => {
  const before = await memoryOf(service.pid)
  const connections = await Promise.all(Array.from({ length: 64 }, () => openRaw(service.url)))
  const part = Buffer.alloc(mebibyte, 'x')
  let most = 0
  for (const connection of connections)
    await connection.send(rawHead('POST /v1/users', [`Content-Length: ${10 * mebibyte}`]))
  for (let count = 0; count < 10; count += 1) {
    await Promise.all(connections.map((connection) => connection.send(part)))
    // The faster of the two programs depends on the machine, and what is in flight between them is not what is held.
    await Bun.sleep(200)
    most = Math.max(most, await memoryOf(service.pid))
  }
  for (const connection of connections) {
    await connection.until(/^HTTP\/1.1 401 [\s\S]*\r\n0\r\n\r\n$/)
    connection.close()
  }
  console.info(`64 refused bodies of 10 MiB take up ${Math.round((most - before) / mebibyte)} MiB`)
  expect(most - before).toBeLessThan(256 * mebibyte)
})

test('behind nginx, slow bodies without a key and unread responses take up no disk', async () => {
  const actor = await observer.actor()
  await fillListings(observer, actor, 200)
  const slow = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const connection = await openRaw(proxy.url)
      void connection.send(rawHead('POST /v1/users', [`Content-Length: ${10 * mebibyte}`]))
      void connection.send(Buffer.alloc(9 * mebibyte, 'x'))
      return connection
    }),
  )
  const readers = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const connection = await openRaw(proxy.url)
      await connection.send(rawHead('GET /v1/listings?per_page=100', [], actor.key))
      await connection.until(/^HTTP\/1.1 200 OK/)
      connection.pause()
      return connection
    }),
  )
  for (const connection of slow) await connection.until(/^HTTP\/1.1 401 /)
  expect(await proxy.temporaryFiles()).toEqual([])
  await send('GET', '/v1/me', { key: limited.key })
  const outcomes = await clients['python http.client']?.(proxy.url, 1)
  expect(outcomes).toEqual(refused.map(({ status }) => status))
  for (const connection of [...slow, ...readers]) connection.close()
})

test('an honest body of 10 MiB is received beside slow bodies of six hosts', async () => {
  const path = '/v1/integrations/provider_one/availability'
  const slow: RawConnection[] = []
  for (let host = 0; host < 6; host += 1) {
    const { key } = await observer.actor()
    // Together, they hold everything that the process may hold.
    for (const bytes of [9 * mebibyte, 7 * mebibyte]) {
      const connection = await openRaw(service.url)
      await connection.send(rawHead(`POST ${path}`, [`Content-Length: ${10 * mebibyte}`], key))
      void connection.send(Buffer.alloc(bytes, ' '))
      slow.push(connection)
    }
  }
  const honest = await observer.actor()
  const body = `{"data":[]}${' '.repeat(10 * mebibyte - 20)}`
  const milliseconds = await millisecondsOf(async () => {
    const response = await send('POST', path, { key: honest.key, body })
    // The list is empty, so the body was received and refused as a whole.
    expect(response.status).toBe(422)
  })
  console.info(`An honest body of 10 MiB took ${Math.round(milliseconds)} ms beside slow ones`)
  expect(milliseconds).toBeLessThan(5000)
  await expect
    .poll(() => slow.some((connection) => connection.received().includes('HTTP/1.1 408')))
    .toBe(true)
  for (const connection of slow) connection.close()
})

test('a body of 10 MiB in the smallest chunks does not hold up other requests', async () => {
  const other = async () => expect((await send('GET', '/v1/me', { key: someone.key })).status).toBe(200)
  const calm = await controlOf(other)
  const connection = await openRaw(service.url)
  const path = '/v1/integrations/provider_one/availability'
  await connection.send(rawHead(`POST ${path}`, ['Transfer-Encoding: chunked'], someone.key))
  const chunks = Buffer.from('1\r\n \r\n'.repeat(65_536))
  let slowest = 0
  let isSent = false
  const sending = (async () => {
    for (let sent = 0; sent < 160; sent += 1) await connection.send(chunks)
    await connection.send('0\r\n\r\n')
    isSent = true
  })()
  while (!isSent) slowest = Math.max(slowest, await millisecondsOf(other))
  await sending
  await connection.until(/^HTTP\/1.1 422 /)
  connection.close()
  console.info(`Others waited ${Math.round(slowest)} ms at most, and ${Math.round(calm)} ms without the body`)
  expect(slowest / calm).toBeLessThan(50)
})

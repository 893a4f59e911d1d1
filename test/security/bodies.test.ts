import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Json } from '../../src/pages/docs/schemas.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { openRaw, rawHead } from '../support/raw-connection.ts'

const mebibyte = 1024 * 1024
const { actor } = await testApp()
const someone = await actor()
const reader = await actor({ permissions: ['listings.read'] })
const limited = await actor({ rateLimit: 1 })
const [service] = sharedServices()

test.each(['POST /v1/users', 'DELETE /sandbox'])(
  '%s without a key gets 401, whatever the size of its body',
  async (target) => {
    const [method = '', path = ''] = target.split(' ')
    const statuses: Record<number, number> = {}
    for (const size of [10, 60_000, 100_000])
      statuses[size] = (await fetch(service.url + path, { method, body: 'x'.repeat(size) })).status
    expect(statuses).toEqual({ 10: 401, 60000: 401, 100000: 401 })
  },
)

test('Content-Length together with chunked encoding gets 400', async () => {
  const response = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    let text = ''
    socket.on('data', (data) => {
      text += data
    })
    socket.on('close', () => resolve(text))
    socket.on('error', () => resolve(text))
    setTimeout(() => socket.destroy(), 2000)
    const head = ['POST /v1/users HTTP/1.1', 'Host: localhost', `X-API-Key: ${someone.key}`]
    socket.write(
      `${[...head, 'Content-Length: 6', 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n0\r\n\r\nGET`,
    )
  })
  expect(response).toMatch(/^HTTP\/1.1 400/)
})

interface Refusal {
  target: string
  key?: string
  lines?: string[]
}

/** A request for each reason to refuse it before its body has been read. */
const refusals: Record<string, Refusal> = {
  401: { target: 'POST /v1/users' },
  403: { target: 'POST /v1/users', key: reader.key },
  '404 of a route': { target: 'POST /v1/nothing' },
  '404 of a method': { target: 'PUT /v1/users', key: someone.key },
  413: { target: 'POST /v1/users', key: someone.key },
  422: { target: 'POST /v1/bookings', key: someone.key, lines: ['Idempotency-Key: '] },
  429: { target: 'POST /v1/users', key: limited.key },
}
await fetch(`${service.url}/v1/me`, { headers: { 'x-api-key': limited.key } })

test.each(Object.entries(refusals))(
  'a refusal (%s) is complete before the body has been sent, and the connection is used again',
  async (name, { target, key, lines = [] }) => {
    const connection = await openRaw(service.url)
    const bytes = 9 * mebibyte
    const part = Buffer.alloc(100_000, 'x')
    await connection.send(rawHead(target, [...lines, `Content-Length: ${bytes}`], key))
    await connection.send(part)
    await connection.until(/\r\n0\r\n\r\n$/)
    const refusal = connection.received()
    expect(refusal).toMatch(new RegExp(`^HTTP/1.1 ${Number.parseInt(name, 10)} `))
    expect(refusal).toContain('{"error":{"type":')
    await connection.send(Buffer.alloc(bytes - part.length, 'x'))
    await connection.send(rawHead('GET /v1/me', [], someone.key))
    await connection.until(/HTTP\/1.1 200 OK/)
    connection.close()
  },
)

test.each(Object.entries(refusals))(
  'a client that sends its whole body before it reads gets its refusal (%s)',
  async (name, { target, key, lines = [] }) => {
    for (const more of [[], ['Connection: close'], ['X-Forwarded-For: 192.0.2.1']]) {
      const connection = await openRaw(service.url)
      const bytes = 9 * mebibyte
      connection.pause()
      await connection.send(rawHead(target, [...lines, ...more, `Content-Length: ${bytes}`], key))
      await connection.send(Buffer.alloc(bytes, 'x'))
      await connection.until(/"errors":\[.*\]\}\}/)
      expect(connection.received()).toMatch(new RegExp(`^HTTP/1.1 ${Number.parseInt(name, 10)} `))
      connection.close()
    }
  },
)

test('behind a proxy, a refusal waits for the body, so that the proxy keeps the connection of the client', async () => {
  const connection = await openRaw(service.url)
  const lines = ['X-Forwarded-For: 192.0.2.1', 'Content-Length: 100000']
  await connection.send(rawHead('POST /v1/users', lines))
  await connection.send(Buffer.alloc(99_999, 'x'))
  const next = await openRaw(service.url)
  await next.send(rawHead('GET /v1/me', [], someone.key))
  await next.until(/^HTTP\/1.1 200 OK/)
  expect(connection.received()).toBe('')
  await connection.send('x')
  await connection.until(/^HTTP\/1.1 401 [\s\S]*Content-Length: /)
  await connection.send(rawHead('GET /v1/me', [], someone.key))
  await connection.until(/HTTP\/1.1 200 OK/)
  for (const one of [connection, next]) one.close()
})

test('a fault of the sandbox resets the connection of a large body before a byte of a response', async () => {
  const rules = [{ fault: 'lost_request', operation: 'createUser' }]
  const lost = await actor()
  const set = await lost.send('PUT', '/sandbox/faults', { body: { rules } })
  expect(set.status).toBe(200)
  const connection = await openRaw(service.url)
  await connection.send(rawHead('POST /sandbox/users', [`Content-Length: ${mebibyte}`], lost.key))
  await connection.send(Buffer.alloc(100_000, 'x'))
  await expect.poll(() => connection.isClosed()).toBe(true)
  expect(connection.received()).toBe('')
})

test.each(['HEAD', 'GET'])('a refusal of a %s with a large body arrives', async (method) => {
  const connection = await openRaw(service.url)
  await connection.send(rawHead(`${method} /v1/me`, [`Content-Length: ${9 * mebibyte}`]))
  await connection.send(Buffer.alloc(9 * mebibyte, 'x'))
  // The runtime closes a connection on which a request arrives before the response to the previous one.
  await connection.until(/^HTTP\/1.1 401 [\s\S]*\r\n\r\n/)
  await connection.send(rawHead('GET /v1/me', [], someone.key))
  await connection.until(/HTTP\/1.1 200 OK/)
  connection.close()
})

test.each(['Content-Length: 12582912', 'Content-Length: 4294967296', 'Transfer-Encoding: chunked'])(
  'a refused body above 11 MiB (%s) gets the status, and its connection is closed',
  async (line) => {
    const connection = await openRaw(service.url)
    await connection.send(rawHead('POST /v1/users', [line]))
    await connection.until(/^HTTP\/1.1 401 [\s\S]*API key/)
    const chunk = Buffer.from(`10000\r\n${'x'.repeat(65_536)}\r\n`)
    for (let sent = 0; sent < 12 * mebibyte && !connection.isClosed(); sent += chunk.length)
      await Promise.race([connection.send(chunk), Bun.sleep(1000)])
    await expect.poll(() => connection.isClosed()).toBe(true)
  },
)

test('at most 64 refused bodies are awaited at a time; further ones get their status and are closed', async () => {
  // The service waits longest for clients that want their connection closed.
  const lines = ['Connection: close', 'Content-Length: 100000']
  const open = async () => {
    const connection = await openRaw(service.url)
    await connection.send(rawHead('POST /v1/users', lines))
    await connection.until(/^HTTP\/1.1 401 [\s\S]*API key/)
    return connection
  }
  const awaited = await Promise.all(Array.from({ length: 64 }, open))
  const further = await open()
  await expect.poll(() => further.isClosed()).toBe(true)
  expect(awaited.filter((connection) => connection.isClosed())).toEqual([])
  for (const connection of awaited) await connection.send(Buffer.alloc(100_000, 'x'))
  await expect.poll(() => awaited.every((connection) => connection.isClosed())).toBe(true)
  const next = await open()
  expect(next.isClosed()).toBe(false)
  next.close()
})

test('the log of the key says that an upload was broken off, and not that it was slow', async () => {
  const partner = await actor()
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const head = [
    'POST /v1/users HTTP/1.1',
    'Host: localhost',
    `X-API-Key: ${partner.key}`,
    'Content-Length: 900',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n{"first_name":`)
  // Half of the body is on its way once the service has counted the request.
  await expect
    .poll(async () => (await partner.send('GET', '/v1/key')).body.data.rate_limit.remaining)
    .toBeLessThan(1_000_000)
  socket.destroy()
  const messages = async () => {
    const { body } = await partner.send('GET', '/v1/requests?status=4xx')
    return body.data.map(({ status, error }: Json) => ({ status, message: error.errors[0].message }))
  }
  await expect
    .poll(messages)
    .toEqual([{ status: 408, message: 'The connection ended before the body had arrived' }])
})

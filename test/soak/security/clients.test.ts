import { connect, type Socket } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { controlOf } from '../../support/soak.ts'

const { actor } = await testApp()
const someone = await actor()
const process = await startService(testEnvironment())
afterAll(() => process.stop())
const port = Number(new URL(process.url).port)
const send = sender(fetch, process.url)

/** Sends a request as another client. */
const another = async () => expect((await send('GET', '/v1/me', { key: someone.key })).status).toBe(200)
const calm = await controlOf(another)
/** Checks that other clients are still served promptly. */
const expectPrompt = async () => expect((await controlOf(another)) / calm).toBeLessThan(50)

function open(text: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(text)
      resolve(socket)
    })
    socket.on('error', reject)
  })
}

test('1,000 idle connections do not delay other clients', async () => {
  const idle = await Promise.all(Array.from({ length: 1000 }, () => open('')))
  await expectPrompt()
  for (const socket of idle) socket.destroy()
})

test('200 clients that never finish their bodies do not delay other clients', async () => {
  const head = `POST /v1/users HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${someone.key}\r\nContent-Length: 1000\r\n\r\n{"a":`
  const slow = await Promise.all(Array.from({ length: 200 }, () => open(head)))
  await Bun.sleep(300)
  await expectPrompt()
  for (const socket of slow) socket.destroy()
  await expectPrompt()
})

test('a body that is too large gets 413 with or without Content-Length, and the next request is served', async () => {
  const huge = 'x'.repeat(12 * 1024 * 1024)
  const path = '/v1/integrations/provider_one/availability'
  for (const [target, body] of [
    ['/v1/users', huge],
    [path, huge],
  ] as const) {
    const response = await send('POST', target, { key: someone.key, body })
    expect({ status: response.status, code: response.body.error.errors[0].code }).toEqual({
      status: 413,
      code: 'max',
    })
  }
  const stream = new ReadableStream({
    async pull(controller) {
      controller.enqueue(new Uint8Array(256 * 1024))
    },
  })
  const status = await fetch(`${process.url}/v1/users`, {
    method: 'POST',
    body: stream,
    headers: { 'x-api-key': someone.key },
  }).then(
    (response) => response.status,
    () => 'connection closed',
  )
  expect([413, 'connection closed']).toContain(status)
  await expectPrompt()
})

test('thousands of equal query parameters cost hardly more than as many different ones', async () => {
  const ask = async (query: string) =>
    expect((await send('GET', `/v1/listings?${query}`, { key: someone.key })).status).toBe(200)
  // This many parameters fit into the longest request head.
  const count = 2500
  const different = Array.from({ length: count }, (_, index) => `a${index.toString(36)}`).join('&')
  const control = await controlOf(() => ask(different))
  expect((await controlOf(() => ask(Array(count).fill('abcd').join('&')))) / control).toBeLessThan(10)
})

import pino from 'pino'
import { expect, test } from 'vitest'
import { streamJson, UnreadResponses } from '../../src/http/answer/send.ts'

const log = pino({ level: 'silent' })
const context = () => ({
  set: { headers: { 'x-request-id': 'r' } },
  caller: { keyId: 1, isSandbox: false },
  admitted: () => undefined,
})

/** Yields a JSON string of the given length in pieces of 100,000 characters; throws after `failAfter` characters. */
async function* text(length: number, failAfter = Number.POSITIVE_INFINITY) {
  yield '"'
  for (let sent = 0; sent < length; sent += 100_000) {
    if (sent >= failAfter) throw new Error('The database is away')
    await Bun.sleep(0)
    yield 'x'.repeat(100_000)
  }
  yield '"'
}

/** Sends the response over a real socket. */
async function overSocket(pieces: AsyncGenerator<string>): Promise<Response> {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => streamJson({ unread: new UnreadResponses(), log }, context(), pieces),
    error: () => new Response('failed', { status: 500 }),
  })
  try {
    const response = await fetch(server.url)
    const body = await response.text().catch(() => null)
    return new Response(body, { status: response.status, headers: response.headers })
  } finally {
    await server.stop(true)
  }
}

test.each([100_000, 5_000_000])(
  'streamJson() sends %i characters completely, with the headers of the response',
  async (length) => {
    const response = await overSocket(text(length))
    expect({
      status: response.status,
      contentType: response.headers.get('content-type'),
      requestId: response.headers.get('x-request-id'),
    }).toEqual({ status: 200, contentType: 'application/json; charset=utf-8', requestId: 'r' })
    expect(((await response.json()) as string).length).toBe(length)
  },
)

test('streamJson() responds 500 to a failure within the first 1 MiB', async () => {
  expect((await overSocket(text(5_000_000, 500_000))).status).toBe(500)
})

test('streamJson() never produces a valid document after a later failure', async () => {
  const body = await (await overSocket(text(5_000_000, 3_000_000))).text()
  expect(() => JSON.parse(body)).toThrow()
})

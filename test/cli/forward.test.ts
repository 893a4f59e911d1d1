import { createServer } from 'node:net'
import { expect, type TestContext, test } from 'vitest'
import { forward } from '../../cli/partner/forward.ts'
import { makeWebhookSecret } from '../../src/changes/webhooks/signature.ts'

/** Starts a program that writes `head` and `body` and then resets the connection. Returns its address. */
async function resetAfter(
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  head: string,
  body: string,
): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(`${head}\r\n\r\n${body}`)
      socket.resetAndDestroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`
}

test('a hint keeps the status of a program that goes away after the head of its response', async (context) => {
  const url = await resetAfter(context, 'HTTP/1.1 200 OK\r\ncontent-length: 100000', 'begun')
  const receiver = { url, secret: makeWebhookSecret(), stop: new AbortController().signal }
  // Whether the reset is noticed in time to matter differs from one hint to the next.
  for (const _ of Array(10)) {
    const { status, attempts, response_status } = await forward(receiver, 'booking.changed', 1, '{}')
    expect({ status, attempts, response_status }).toEqual({
      status: 'delivered',
      attempts: 1,
      response_status: 200,
    })
  }
})

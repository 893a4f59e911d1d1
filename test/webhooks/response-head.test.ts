import { expect, test } from 'vitest'
import { HeadReader } from '../../src/webhooks/response-head.ts'

/** What a reader makes of a response that arrives in pieces of some length. */
function readIn(length: number, text: string) {
  const reader = new HeadReader()
  const bytes = Buffer.from(text, 'latin1')
  for (let start = 0; start < bytes.length; start += length) {
    const head = reader.push(bytes.subarray(start, start + length))
    if (head) return head
  }
  return null
}

test.each([1, 2, 3, 7, 100_000])('a response in pieces of %i bytes is read like a whole one', (length) => {
  const read = (text: string) => readIn(length, text)
  expect(read('HTTP/1.1 503 x\r\nRetry-After:  7 \r\n\r\nbody')).toEqual({
    status: 503,
    retryAfterSeconds: 7,
  })
  expect(read('HTTP/1.0 200\n\n')).toEqual({ status: 200, retryAfterSeconds: null })
  expect(read('HTTP/1.1 103 Early\r\na: b\r\n\r\nHTTP/1.1 204 No\r\n\r\n')).toMatchObject({ status: 204 })
  expect(read('HTTP/1.1 200 OK\r\na: b\r\n')).toBeNull()
  expect(() => read('SSH-2.0 hello\r\n\r\n')).toThrow('not HTTP')
})

test.each([1, 30_000, 61_000])(
  'a head that is long, in pieces of %i bytes, is read in one pass',
  (length) => {
    const spaces = `HTTP/1.1 503 x\r\nretry-after: x${' '.repeat(60_000)}y\r\n\r\n`
    expect(readIn(length, spaces)).toEqual({ status: 503, retryAfterSeconds: null })
  },
)

test.each([1, 60_000, 200_000])('a head of 120,000 bytes, in pieces of %i, is too long', (length) => {
  const head = `HTTP/1.1 200 OK\r\na: ${'x'.repeat(120_000)}\r\n\r\n`
  expect(() => readIn(length, head)).toThrow('too long')
})

import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { testApp, testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'
import { startReplicaSet } from '../../support/replica-set.ts'

const { actor } = await testApp()
const someone = await actor()
const mebibyte = 1024 * 1024
const process = await startService(testEnvironment())
afterAll(() => process.stop())

interface Flood {
  /** The first line of the response. */
  response: string
  sentBytes: number
}

/** Sends a head and then a body, until the server closes the connection or `maxBytes` have been sent. */
function flood(url: string, head: string[], maxBytes: number, isChunked: boolean): Promise<Flood> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const part = Buffer.alloc(65_536, 'x')
    const chunk = isChunked ? Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')]) : part
    let sentBytes = 0
    let response = ''
    const finish = () => {
      socket.destroy()
      resolve({ response: response.split('\r\n')[0] ?? '', sentBytes })
    }
    const pump = () => {
      while (sentBytes < maxBytes && !socket.destroyed) {
        sentBytes += part.length
        if (socket.write(chunk)) continue
        socket.once('drain', pump)
        return
      }
    }
    socket.on('data', (data) => {
      response += data
    })
    socket.on('error', finish)
    socket.on('close', finish)
    setTimeout(finish, 8000).unref()
    const length = isChunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${maxBytes}`
    socket.write(`${[...head, 'Host: localhost', length].join('\r\n')}\r\n\r\n`, pump)
  })
}

async function memoryOf(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text()
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024
}

test.each([
  ['POST /v1/users', true],
  ['POST /v1/users', false],
  ['DELETE /sandbox', true],
  ['POST /sandbox/bookings/5002/confirm', true],
  ['POST /v1/nothing', true],
  ['GET /v1/me', true],
])(
  '%s without a key gets its response, and no more than 11 MiB of an endless body (chunked: %j) are read',
  async (target, isChunked) => {
    const before = await memoryOf(process.pid)
    const head = [`${target} HTTP/1.1`]
    const floods = await Promise.all(
      Array.from({ length: 4 }, () => flood(process.url, head, 200 * mebibyte, isChunked)),
    )
    const wanted = target.endsWith('nothing') ? 'HTTP/1.1 404 Not Found' : 'HTTP/1.1 401 Unauthorized'
    for (const { response, sentBytes } of floods) {
      // A client that keeps sending beyond 11 MiB may lose the response.
      expect([wanted, '']).toContain(response)
      // The kernel's buffers accept some bytes before the server reads any.
      expect(sentBytes).toBeLessThan(32 * mebibyte)
    }
    expect((await memoryOf(process.pid)) - before).toBeLessThan(96 * mebibyte)
  },
)

test('bodies that arrive while their key is being checked are not buffered', async () => {
  const mongod = await startReplicaSet(1)
  const waiting = await startService({ MONGODB_URL: mongod.url, LOG_LEVEL: 'silent' })
  try {
    const before = await memoryOf(waiting.pid)
    const resume = await mongod.freezePrimary()
    const head = ['POST /v1/users HTTP/1.1', `X-API-Key: ${someone.key}`]
    const floods = await Promise.all(
      Array.from({ length: 10 }, () => flood(waiting.url, head, 1024 * mebibyte, true)),
    )
    // Once the check has failed, the bodies are read and thrown away, which leaves garbage.
    expect((await memoryOf(waiting.pid)) - before).toBeLessThan(160 * mebibyte)
    for (const { sentBytes } of floods) expect(sentBytes).toBeLessThan(32 * mebibyte)
    await resume()
  } finally {
    await waiting.stop()
    await mongod.stop()
  }
})

import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { expect } from 'vitest'

/** A connection on which a test decides when each byte is sent. */
export interface RawConnection {
  /** Everything that the server has sent so far. */
  received(): string
  /** Stops reading what the server sends, until `until` is called. */
  pause(): void
  /** Resolves once the server's text matches. */
  until(pattern: RegExp): Promise<void>
  /** Sends text or bytes; resolves once the operating system has accepted all of them. */
  send(data: string | Uint8Array): Promise<void>
  /** True once the server has closed the connection, in whichever way. */
  isClosed(): boolean
  close(): void
}

/** Opens a connection to a service or a proxy; TLS certificates are not checked. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port, protocol } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const to = { host: hostname, port: Number(port) }
  const socket: Socket =
    protocol === 'https:'
      ? connectTls({ ...to, rejectUnauthorized: false }, () => resolve())
      : connect(to, () => resolve())
  let received = ''
  let isClosed = false
  socket.on('data', (data) => {
    received += data
  })
  socket.on('error', (error) => {
    isClosed = true
    reject(error)
  })
  for (const event of ['end', 'close'])
    socket.on(event, () => {
      isClosed = true
    })
  await promise
  return {
    received: () => received,
    pause: () => void socket.pause(),
    until(pattern) {
      socket.resume()
      return expect.poll(() => received).toMatch(pattern)
    },
    send: (data) => new Promise((done) => socket.write(data, () => done())),
    isClosed: () => isClosed,
    close: () => socket.destroy(),
  }
}

/** Returns the head of a request with `X-API-Key` and further header lines. */
export function rawHead(target: string, lines: string[], key?: string): string {
  const keyLines = key === undefined ? [] : [`X-API-Key: ${key}`]
  return `${[`${target} HTTP/1.1`, 'Host: localhost', ...keyLines, ...lines].join('\r\n')}\r\n\r\n`
}

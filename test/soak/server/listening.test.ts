import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { testEnvironment } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'

/** Sends a request on a new connection; returns the first line of the response, `refused`, or `lost`. */
function outcomeOfGet(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  // From another address, because the kernel may otherwise connect a socket with itself.
  const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.2' })
  socket.on('connect', () =>
    socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'),
  )
  socket.on('data', (bytes) => resolve(bytes.toString().split('\r\n', 1).join()))
  socket.on('error', (error: NodeJS.ErrnoException) =>
    resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'lost'),
  )
  socket.on('close', () => resolve('lost'))
  return promise
}

test('a process that starts never accepts a connection without responding on it', async () => {
  const port = await freePort()
  const outcomes = new Set<string>()
  let isOver = false
  const connectAgainAndAgain = async () => {
    while (!isOver) {
      outcomes.add(await outcomeOfGet(port))
      await Bun.sleep(5)
    }
  }
  const client = connectAgainAndAgain()
  const environment = { ...testEnvironment(), PORT: String(port) }
  const service = await startService(environment, [], 'test/support/slow-listening.program.ts')
  isOver = true
  await client
  await service.stop()
  expect([...outcomes].sort()).toEqual(['HTTP/1.1 200 OK', 'refused'])
})

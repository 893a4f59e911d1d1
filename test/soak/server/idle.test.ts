import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { sharedServices } from '../../support/app.ts'

const [{ url }] = sharedServices()
/** Longer than the 60 s for which nginx keeps a connection to a service, and than the defaults of the libraries. */
const idleMilliseconds = 75_000

test('a connection that was idle for longer than a proxy keeps it open accepts another request', async () => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  let isClosed = false
  socket.on('data', (data) => {
    received += data
  })
  socket.on('close', () => {
    isClosed = true
  })
  const ask = () => socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const answers = () => received.split('HTTP/1.1 200').length - 1
  ask()
  await expect.poll(answers).toBe(1)
  await Bun.sleep(idleMilliseconds)
  expect(isClosed).toBe(false)
  ask()
  await expect.poll(answers).toBe(2)
  socket.destroy()
})

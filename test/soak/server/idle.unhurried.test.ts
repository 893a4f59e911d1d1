import { connect } from 'node:net'
import { test } from 'vitest'
import { sharedServices, testApp } from '../../support/app.ts'

const [{ url }] = sharedServices()
/** Longer than the 60 s for which nginx keeps a connection to a service, and longer than the libraries' defaults. */
const idleMilliseconds = 75_000
const feed = '/v1/integrations/provider_one/bookings'

test.concurrent.for(['/healthz', `${feed}?wait=1`, `${feed}/digest`])(
  'a connection whose last request was GET %s accepts another one after more idle time than a proxy keeps it open',
  async (path, { expect }) => {
    const { key } = await (await testApp()).actor()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let received = ''
    let isClosed = false
    socket.on('data', (data) => {
      received += data
    })
    socket.on('close', () => {
      isClosed = true
    })
    const ask = () => socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`)
    const answers = () => received.split('HTTP/1.1 200').length - 1
    ask()
    await expect.poll(answers).toBe(1)
    await Bun.sleep(idleMilliseconds)
    expect(isClosed).toBe(false)
    ask()
    await expect.poll(answers).toBe(2)
    socket.destroy()
  },
)

import { connect } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { testApp, testEnvironment } from '../support/app.ts'
import { startService } from '../support/processes.ts'

const { actor } = await testApp()
const someone = await actor()
const process = await startService(testEnvironment())
afterAll(() => process.stop())

test.each(['POST /v1/users', 'DELETE /sandbox'])(
  '%s without a key gets 401, whatever the size of its body',
  async (target) => {
    const [method = '', path = ''] = target.split(' ')
    const statuses: Record<number, number> = {}
    for (const size of [10, 60_000, 100_000])
      statuses[size] = (await fetch(process.url + path, { method, body: 'x'.repeat(size) })).status
    expect(statuses).toEqual({ 10: 401, 60000: 401, 100000: 401 })
  },
)

test('Content-Length together with chunked encoding gets 400', async () => {
  const response = await new Promise<string>((resolve) => {
    const socket = connect(Number(new URL(process.url).port), '127.0.0.1')
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

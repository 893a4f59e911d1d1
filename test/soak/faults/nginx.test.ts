import { expect, onTestFinished, test } from 'vitest'
import { sender, testApp, testEnvironment } from '../../support/app.ts'
import { startNginx } from '../../support/nginx.ts'
import { startService } from '../../support/processes.ts'
import { openRaw, rawHead } from '../../support/raw-connection.ts'

const observer = await testApp()

test('an address has at most 256 requests in progress, and slow bodies are not written to the disk', async () => {
  const service = await startService(testEnvironment({ TRUSTED_PROXIES: '127.0.0.1' }))
  const proxy = await startNginx([Number(new URL(service.url).port)])
  onTestFinished(() => Promise.all([proxy.stop(), service.stop()]).then(() => {}))
  const actor = await observer.actor()
  const head = rawHead('POST /v1/users', ['Content-Length: 900000'], actor.key)
  const slow = await Promise.all(
    Array.from({ length: 256 }, async () => {
      const connection = await openRaw(proxy.url)
      await connection.send(head)
      return connection
    }),
  )
  onTestFinished(() => slow.forEach((connection) => void connection.close()))
  for (const connection of slow.slice(0, 3)) await connection.send(Buffer.alloc(800_000, 'x'))
  const refusal = async () => {
    const { status, headers, body } = await send('GET', '/v1/me', { key: actor.key })
    return { status, wait: headers.get('retry-after'), type: body?.error?.type }
  }
  const send = sender(proxy.fetch, proxy.url)
  await expect.poll(refusal).toEqual({ status: 429, wait: '1', type: 'rate_limit_error' })
  const other = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-H', `x-api-key: ${actor.key}`]
  const sent = Bun.$`curl --interface 127.0.0.2 ${other} ${proxy.url}/v1/me`.env(proxy.environment)
  expect((await sent.quiet()).stdout.toString()).toBe('200')
  expect(await proxy.temporaryFiles()).toEqual([])
})

import { expect, test } from 'vitest'
import { testApp } from '../support/app.ts'

const service = await testApp({ METRICS_TOKEN: 'a-token-of-the-operator' })
const actor = await service.actor()

test.each([
  ['GET', '/v1/me'],
  ['GET', '/v1/nothing'],
  ['POST', '/v1/users'],
  ['GET', '/healthz'],
  ['GET', '/openapi.json'],
  ['GET', '/docs'],
  ['GET', '/docs/assets/page.js'],
])(
  '%s %s forbids frames, sniffing and referrers, and sends a content security policy',
  async (method, path) => {
    const { headers } = await actor.send(method, path, method === 'POST' ? { body: {} } : {})
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
  },
)

test.each(['/console', '/', '/guide', '/guide/errors'])(
  '%s loads only its own scripts and styles, and none of them are inline',
  async (path) => {
    const { headers } = await service.send('GET', path)
    const policy = headers.get('content-security-policy')?.split('; ')
    expect(policy).toEqual(
      expect.arrayContaining(["script-src 'self'", "style-src 'self'", "connect-src 'self'"]),
    )
  },
)

test('responses to a key are never cached, including replays and errors', async () => {
  const headers = { 'idempotency-key': 'once' }
  const body = { name: 'Cached' }
  for (const request of [
    () => actor.send('GET', '/v1/me'),
    () => actor.send('GET', '/v1/listings/1'),
    () => actor.send('POST', '/v1/listings', { headers, body }),
    () => actor.send('POST', '/v1/listings', { headers, body }),
  ])
    expect((await request()).headers.get('cache-control')).toBe('no-store')
})

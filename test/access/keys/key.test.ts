import { expect, test } from 'vitest'
import { permissions } from '../../../src/http/permissions.ts'
import { testApp } from '../../support/app.ts'
import { rotateKey } from '../../support/keys.ts'

const service = await testApp()
const { db, clock } = service.live

test('GET /v1/key describes the key, and responds the same to both secrets of a rotated key', async () => {
  const actor = await service.actor({ rateLimit: 5 })
  await actor.send('GET', '/v1/me')
  await service.live.usage.flush()
  const { status, body } = await actor.send('GET', '/v1/key')
  expect({ status, key: body.data }).toEqual({
    status: 200,
    key: {
      id: actor.keyId,
      name: 'Test key',
      host: { name: 'Test host', email: expect.stringContaining('@example.com') },
      permissions: [...permissions],
      allowed_from: [],
      status: 'active',
      expires_at: null,
      previous_expires_at: null,
      rate_limit: { limit: 5, remaining: 4, window_seconds: 60 },
      usage: { count: 1, last_used_at: expect.stringMatching(/Z$/) },
    },
  })
  const { key, previousExpiresAt } = await rotateKey(db, clock, String(actor.keyId), 3600)
  const views = await Promise.all(
    [actor.key, key].map(async (secret) => (await service.send('GET', '/v1/key', { key: secret })).body.data),
  )
  // Usage is stored every two seconds, possibly between the two requests.
  for (const view of views) delete view.usage
  expect(views[0]).toEqual(views[1])
  expect(Date.parse(views[0].previous_expires_at)).toBe(previousExpiresAt.getTime())
})

test('GET /v1/key has its own rate limit and works after the key has reached the main one', async () => {
  const actor = await service.actor({ rateLimit: 1 })
  expect((await actor.send('GET', '/v1/me')).status).toBe(200)
  expect((await actor.send('GET', '/v1/me')).status).toBe(429)
  const looks = await Promise.all(Array.from({ length: 60 }, () => actor.send('GET', '/sandbox/key')))
  expect(new Set(looks.map(({ status }) => status))).toEqual(new Set([200]))
  expect(looks[0]?.headers.get('ratelimit-policy')).toBe('"insight";q=60;w=60')
  expect((await actor.send('GET', '/v1/key')).status).toBe(429)
})

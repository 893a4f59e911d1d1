import { expect, test } from 'vitest'
import { requireTurn, reserveTurns } from '../../../src/changes/webhooks/origin-limit.ts'
import { MemoryRateLimiter } from '../../../src/platform/rate-limiter.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startReceiver } from '../../support/receiver.ts'

const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' })

test.concurrent('all sandboxes together get ten turns a second at one origin, and live endpoints any number', async () => {
  const origin = `https://${crypto.randomUUID()}.example.com`
  expect(await reserveTurns(service.sandbox, `${origin}/one`, 7)).toEqual({ count: 7, waitMilliseconds: 0 })
  const second = await reserveTurns(service.sandbox, `${origin}:443/two?of=another`, 7)
  expect(second.count).toBe(3)
  expect(second.waitMilliseconds).toBeGreaterThan(0)
  expect(await reserveTurns(service.sandbox, `${origin}:8443/`, 10)).toMatchObject({ count: 10 })
  expect(await reserveTurns(service.live, `${origin}/`, 1000)).toMatchObject({ count: 1000 })
})

test.concurrent('a single attempt that gets no turn within five seconds is refused with a retry time', async () => {
  // The limiter's clock stands still, so the limit never resets.
  const rateLimiter = new MemoryRateLimiter(() => 0)
  const app = { rateLimiter, environment: { name: 'sandbox' } as const }
  const url = 'https://hooks.example.com/'
  await reserveTurns(app, url, 10)
  await expect(requireTurn(app, { id: 1, url })).rejects.toMatchObject({
    kind: 'conflict',
    retryAfterSeconds: 1,
  })
  await rateLimiter.close()
})

test.concurrent('tests and resends of a live endpoint have their own limit of twenty a second', async () => {
  const app = { rateLimiter: new MemoryRateLimiter(() => 0), environment: { name: 'live' } as const }
  const [one, other] = [1, 2].map((id) => ({ id, url: 'https://hooks.example.com/' }))
  for (let count = 0; count < 20; count += 1) await requireTurn(app, one as never)
  await expect(requireTurn(app, one as never)).rejects.toMatchObject({
    kind: 'conflict',
    retryAfterSeconds: 1,
  })
  await requireTurn(app, other as never)
  await app.rateLimiter.close()
})

test.concurrent('hints of a sandbox beyond its turns are sent later, and none is lost', async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const actor = await service.actor()
  const webhook = { url, events: ['message.created'] }
  expect((await actor.send('POST', '/sandbox/webhooks', { body: webhook })).status).toBe(201)
  await actor.send('POST', '/sandbox/scenarios/guest-writes', { body: { count: 25 } })
  const ids = () => new Set(received.map(({ hint }) => hint.data.message_id))
  await expect.poll(() => ids().size).toBe(25)
})

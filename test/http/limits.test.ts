import { expect, test } from 'vitest'
import { sender, sharedServices, testApp } from '../support/app.ts'

const service = await testApp()

test("a key's 61st request within a minute gets 429 with Retry-After", async () => {
  const actor = await service.actor({ rateLimit: null })
  for (let count = 1; count <= 60; count += 1) expect((await actor.send('GET', '/v1/me')).status).toBe(200)
  const refused = await actor.send('GET', '/v1/me')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe(refused.body.error.errors[0].message)
})

test('two processes on one Redis share the rate limit exactly', async () => {
  const processes = sharedServices()
  const outcome = async () => {
    const actor = await service.actor({ rateLimit: null })
    const responses = await Promise.all(
      Array.from({ length: 80 }, async (_, index) => {
        const send = sender(fetch, processes[index % 2]?.url)
        return (await send('GET', '/v1/me', { key: actor.key })).status
      }),
    )
    return {
      admitted: responses.filter((status) => status === 200).length,
      refused: responses.filter((status) => status === 429).length,
    }
  }
  // If Redis takes longer than 50 ms on a busy machine, a process decides alone and the poll tries another key.
  await expect.poll(outcome).toEqual({ admitted: 60, refused: 20 })
})

test('failed authentications are limited per client address', async () => {
  const strict = await testApp({ AUTH_FAILURES_PER_MINUTE: '3', TRUSTED_PROXIES: '127.0.0.0/8' })
  const address = `10.0.${Date.now() % 250}.${Math.floor(Math.random() * 250)}`
  const headers = { 'x-forwarded-for': address }
  const statuses: number[] = []
  for (let count = 0; count < 5; count += 1)
    statuses.push((await strict.send('GET', '/v1/me', { headers })).status)
  expect(statuses).toEqual([401, 401, 401, 429, 429])
  expect((await strict.send('GET', '/v1/me', { headers: { 'x-forwarded-for': '192.0.2.77' } })).status).toBe(
    401,
  )
})

import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { models } from '../../../src/operations/release.ts'
import { type Actor, makeActor, seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { type RunningNginx, startNginx } from '../../support/nginx.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const settings = { MONGODB_URL: await ownDatabase() }
const inspected = await testApp(settings)
const rounds = 100 * soakFactor

/** Sends a request; returns the response's status and text, or null if no complete response arrives. */
const attempt = (send: RunningNginx['fetch'], url: string, init: RequestInit) =>
  send(url, init)
    .then(async (response) => ({ status: response.status, text: await response.text() }))
    .catch(() => null)

/** Returns a hash of all live collections except the request log, keys and collections of background work. */
async function liveState(): Promise<string> {
  const { db } = inspected.live
  const hash = createHash('sha256')
  const moving = new Set(['requests', 'request_counts', 'keys', 'leases', 'sequences', 'outbox'])
  for (const model of models) {
    const { name } = model(db).collection
    if (moving.has(name)) continue
    for (const document of await db.collection(name).find().sort({ _id: 1 }).toArray())
      hash.update(name + JSON.stringify(document))
  }
  return hash.digest('hex')
}

test('a booking whose response is lost or cut is created once, directly and behind a proxy, and affects nobody else', async () => {
  const environment = testEnvironment(settings)
  const services = await Promise.all([startService(environment), startService(environment)])
  const proxy = await startNginx(services.map(({ url }) => Number(new URL(url).port)))
  const direct = sender(fetch, services[0]?.url)
  const partner = (): Promise<Actor> => makeActor(inspected.live, direct, { rateLimit: 1_000_000 })
  const [actor, neighbour] = await Promise.all([partner(), partner()])
  await seedBooking(neighbour)
  const { user_id, listing_id, room_type_id } = await seedBooking(actor, '/sandbox')
  const feed = '/sandbox/integrations/provider_one/bookings'
  const countOf = async (who: Actor) => (await who.send('GET', feed)).body.meta.pagination.total
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const before = await countOf(actor)
  const ofNeighbour = await countOf(neighbour)
  const live = await liveState()
  const ends = { broken: 0, gateway: 0, whole: 0 }
  for (let round = 0; round < rounds; round += 1) {
    const base = round % 2 === 0 ? (services[round % 4 === 0 ? 0 : 1]?.url as string) : proxy.url
    const fault = ['lost_response', 'lost_request', 'cut_response'][round % 3]
    const rule = { fault, operation: 'createBooking', times: 1 + (round % 2) }
    expect((await actor.send('PUT', '/sandbox/faults', { body: { rules: [rule] } })).status).toBe(200)
    const headers = { 'x-api-key': actor.key, 'idempotency-key': `round-${round}` }
    const init = { method: 'POST', headers, body: JSON.stringify(stay) }
    for (;;) {
      const answer = await attempt(proxy.fetch, `${base}/sandbox/bookings`, init)
      if (answer?.status === 201) break
      // The proxy responds 502 if the service does not respond.
      if (answer) expect({ status: answer.status, base }).toEqual({ status: 502, base: proxy.url })
      ends[answer ? 'gateway' : 'broken'] += 1
    }
    ends.whole += 1
    expect(await countOf(actor)).toBe(before + round + 1)
  }
  console.log(ends)
  expect(ends.broken).toBeGreaterThan(0)
  expect(ends.gateway).toBeGreaterThan(0)
  expect(await countOf(neighbour)).toBe(ofNeighbour)
  expect(await liveState()).toBe(live)
  await proxy.stop()
  await Promise.all(services.map((service) => service.stop()))
})

/** The client's view of each fault: the status, the fault that the response names, and how the response ends. */
const whole = (status: number, fault: string | null) => ({ status, fault, end: 'whole' })
const cut = { status: 200, fault: 'cut_response', end: 'broken' }
const reset = { code: 'ECONNRESET' }
const seen: Record<string, { direct: object; proxied: object }> = {
  rate_limited: { direct: whole(429, 'rate_limited'), proxied: whole(429, 'rate_limited') },
  internal_error: { direct: whole(500, 'internal_error'), proxied: whole(500, 'internal_error') },
  bad_gateway: { direct: whole(502, 'bad_gateway'), proxied: whole(502, 'bad_gateway') },
  unauthorized: { direct: whole(401, 'unauthorized'), proxied: whole(401, 'unauthorized') },
  slow: { direct: whole(200, 'slow'), proxied: whole(200, 'slow') },
  lost_request: { direct: reset, proxied: whole(502, null) },
  lost_response: { direct: reset, proxied: whole(502, null) },
  cut_response: { direct: cut, proxied: cut },
}

test('each fault behaves as documented, directly and behind a proxy', async () => {
  const service = await startService(testEnvironment(settings))
  const proxy = await startNginx([Number(new URL(service.url).port)])
  const actor = await makeActor(inspected.live, sender(fetch, service.url), { rateLimit: 1_000_000 })
  const look = async (base: string) => {
    const headers = { 'x-api-key': actor.key }
    const answer = await proxy.fetch(`${base}/sandbox/listings`, { headers }).catch((error) => error)
    if (!(answer instanceof Response)) return { code: answer.code }
    const end = await answer.text().then(
      () => 'whole',
      () => 'broken',
    )
    return { status: answer.status, fault: answer.headers.get('sandbox-fault'), end }
  }
  for (const [fault, { direct, proxied }] of Object.entries(seen)) {
    // Bun's `fetch` repeats a GET whose connection is reset before the first byte, so the rule matches many requests.
    const rule = { fault, operation: 'listListings', times: 1000, delay_milliseconds: 500 }
    await actor.send('PUT', '/sandbox/faults', { body: { rules: [rule] } })
    expect({ fault, direct: await look(service.url), proxied: await look(proxy.url) }).toEqual({
      fault,
      direct,
      proxied,
    })
    await actor.send('DELETE', '/sandbox/faults')
  }
  await proxy.stop()
  await service.stop()
})

import { expect, test } from 'vitest'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { keyedRoutes } from '../support/routes.ts'

const service = await testApp()
const actor = await service.actor()
const [{ url }] = sharedServices()
const json = 'application/json; charset=utf-8'

/** Returns the status and content type of a response over a real connection. */
async function sent(method: string, path: string, init: RequestInit = {}) {
  const headers = { 'x-api-key': actor.key, ...(init.headers as Record<string, string>) }
  const response = await fetch(url + path, { ...init, method, headers })
  await response.arrayBuffer()
  return { status: response.status, type: response.headers.get('content-type') }
}

test.each([
  '/healthz',
  '/readyz',
  '/.well-known/jwks.json',
  '/openapi.json',
  '/openapi/operations.json',
  '/docs/partner-interface.bruno.json',
  '/guide/search.json',
  '/npm/@partner-interface/client',
])('%s is JSON in UTF-8', async (path) => {
  expect(await sent('GET', path)).toEqual({ status: 200, type: json })
})

test.each([
  ['/guide/errors.md', 'text/markdown; charset=utf-8'],
  ['/llms.txt', 'text/plain; charset=utf-8'],
  ['/downloads/SHA256SUMS', 'text/plain; charset=utf-8'],
  ['/downloads/partnerctl.mjs', 'text/javascript; charset=utf-8'],
  ['/workflows.arazzo.yaml', 'application/yaml; charset=utf-8'],
  ['/docs', 'text/html; charset=utf-8'],
])('%s is %s', async (path, type) => {
  expect(await sent('GET', path)).toEqual({ status: 200, type })
})

const reads = keyedRoutes(service).filter(({ method, path }) => method === 'GET' && !path.includes(':'))

test.each(reads)('GET $path answers and refuses in JSON in UTF-8', async ({ path, requiredQuery }) => {
  const query = new URLSearchParams(requiredQuery)
  const { type } = await sent('GET', `${path}?${query}`)
  expect(type).toBe(json)
  expect(await sent('GET', path, { headers: { 'x-api-key': 'wrong' } })).toEqual({ status: 401, type: json })
})

test('a feed, streamed rows, a creation and its replay are JSON in UTF-8', async () => {
  const { listing_id, room_type_id, user_id } = await seedBooking(actor)
  const provider = '/v1/integrations/provider_one'
  expect(await sent('GET', `${provider}/bookings`)).toEqual({ status: 200, type: json })
  const range = `listing_id=${listing_id}&start_date=2031-01-01&end_date=2031-01-05`
  expect(await sent('GET', `${provider}/availability?${range}`)).toEqual({ status: 200, type: json })
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-03-01', checkout_at: '2031-06-01' }
  const creation = { body: JSON.stringify(stay), headers: { 'idempotency-key': 'once' } }
  expect(await sent('POST', '/v1/bookings', creation)).toEqual({ status: 201, type: json })
  expect(await sent('POST', '/v1/bookings', creation)).toEqual({ status: 201, type: json })
  expect(await sent('POST', '/v1/bookings', { body: '{' })).toEqual({ status: 422, type: json })
  expect(await sent('POST', '/nothing')).toEqual({ status: 404, type: json })
})

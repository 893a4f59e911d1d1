import { expect, test } from 'vitest'
import { type Actor, seedBooking, testApp } from '../support/app.ts'

const service = await testApp()
const feed = '/v1/integrations/provider_one'

/** Returns the response's status and the path and code of each problem. */
async function problemsOf(actor: Actor, method: string, path: string, body?: object) {
  const response = await actor.send(method, path, body ? { body } : {})
  const problems: { path: string; code: string }[] = response.body.error?.errors ?? []
  return {
    status: response.status,
    problems: problems.map((problem) => `${problem.path} ${problem.code}`),
  }
}

test.each([
  ['bookings', 'listing_id=999999999&cursor=x', ['cursor invalid']],
  ['bookings', 'consumer=nobody&cursor=x', ['cursor invalid']],
  ['bookings', 'cursor=x&per_page=0', ['per_page min', 'cursor invalid']],
  ['messages', 'booking_id=999999999&cursor=x', ['cursor invalid']],
  ['messages', `cursor=${btoa('["bookings",{"after":0,"page":1},{"per_page":50}]')}`, ['cursor invalid']],
  [
    'availability',
    'start_date=2027-02-02&end_date=2027-02-01&per_page=9999',
    ['per_page max', 'end_date invalid'],
  ],
])('GET %s?%s reports every malformed value before any look-up', async (path, query, problems) => {
  expect(await problemsOf(await service.actor(), 'GET', `${feed}/${path}?${query}`)).toEqual({
    status: 422,
    problems,
  })
})

test('path problems are reported together with body problems', async () => {
  const actor = await service.actor()
  const put = (name: string, body: object) =>
    problemsOf(actor, 'PUT', `${feed}/bookings/consumers/${name}`, body)
  expect(await put('Not_a_name', { acknowledged: 'x' })).toEqual({
    status: 422,
    problems: ['name invalid', 'acknowledged invalid'],
  })
  expect(await put('a'.repeat(65), { acknowledged: null })).toEqual({ status: 422, problems: ['name max'] })
  expect(await put('a'.repeat(64), { acknowledged: null })).toEqual({ status: 200, problems: [] })
})

test('problems with the form of a request are reported before problems with its references', async () => {
  const actor = await service.actor()
  const foreign = await seedBooking(await service.actor())
  const listing = `/v1/listings/${foreign.listing_id}`
  expect(await problemsOf(actor, 'PATCH', listing, { name: 7 })).toEqual({
    status: 422,
    problems: ['name invalid'],
  })
  expect(await problemsOf(actor, 'PATCH', '/v1/listings/999999999', { name: 7 })).toEqual({
    status: 422,
    problems: ['name invalid'],
  })
  expect(await problemsOf(actor, 'PATCH', listing, { name: 'Mine' })).toEqual({ status: 404, problems: [] })
  const stay = { user_id: 999_999_999, listing_id: 999_999_999, checkin_at: 'x', checkout_at: '2031-02-01' }
  expect(await problemsOf(actor, 'POST', '/v1/bookings', stay)).toEqual({
    status: 422,
    problems: ['checkin_at invalid'],
  })
  const wellFormed = { ...stay, checkin_at: '2031-01-01' }
  expect(await problemsOf(actor, 'POST', '/v1/bookings', wellFormed)).toEqual({
    status: 422,
    problems: ['user_id invalid', 'listing_id invalid'],
  })
  const headers = { 'idempotency-key': 'a, b' }
  const { body } = await actor.send('POST', '/v1/bookings', { headers, body: '{"broken' })
  expect(body.error.errors).toMatchObject([{ path: 'Idempotency-Key', code: 'invalid' }])
})

test('from and to are null past the last page of every list', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const lists = [
    '/v1/users',
    '/v1/listings',
    `/v1/bookings/${booking_id}/messages`,
    `${feed}/bookings`,
    `${feed}/messages`,
  ]
  for (const list of lists) {
    const { data, meta } = (await actor.send('GET', `${list}?page=9`)).body
    const { current_page, from, to } = meta.pagination
    expect({ list, rows: Object.values(data).flat(), current_page, from, to }).toEqual({
      list,
      rows: [],
      current_page: 9,
      from: null,
      to: null,
    })
  }
})

test('a list that is not a list is told so, and null in a list is required', async () => {
  const actor = await service.actor()
  const messagesOf = async (path: string, body: object) =>
    (await actor.send('POST', path, { body })).body.error.errors.map(
      (problem: Record<string, string>) => `${problem.code}: ${problem.message}`,
    )
  for (const events of ['booking.changed', {}, 7, true])
    expect(await messagesOf('/v1/webhooks', { url: 'https://example.com/', events })).toEqual([
      'invalid: "events" must be a list',
    ])
  expect(await messagesOf('/v1/webhooks', { url: 'https://example.com/', events: [null] })).toEqual([
    'required: "events.0" is required',
  ])
  expect(await messagesOf(`${feed}/availability`, { data: 'x' })).toEqual(['invalid: "data" must be a list'])
  expect(await messagesOf(`${feed}/rates`, { data: [null] })).toEqual(['required: "data.0" is required'])
  expect(await messagesOf('/v1/listings', { name: 'L', amenities: 'wifi', faq: [null] })).toEqual([
    'invalid: "amenities" must be a list',
    'required: "faq.0" is required',
  ])
  expect(await messagesOf('/sandbox/certifications', { profiles: 'feed' })).toEqual([
    'invalid: "profiles" must be a list',
  ])
  expect(await messagesOf('/sandbox/certifications', { profiles: ['feed', 'feed'] })).toEqual([
    'invalid: "profiles" must not contain duplicates',
  ])
})

test('an optional id that is blank counts as null', async () => {
  const actor = await service.actor()
  const stay = { user_id: 1001, listing_id: 2002, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const booked = await actor.send('POST', '/sandbox/bookings', { body: { ...stay, room_type_id: '' } })
  expect({ status: booked.status, listing: booked.body.data.listing_id }).toEqual({
    status: 201,
    listing: 2002,
  })
  const blank = { listing_id: '', booking_id: ' ', checkin_at: '' }
  const played = await actor.send('POST', '/sandbox/scenarios/guest-books', { body: blank })
  expect(played.status).toBe(201)
  const required = { ...stay, user_id: '', listing_id: ' ', room_type_id: 'x' }
  expect(await problemsOf(actor, 'POST', '/sandbox/bookings', required)).toEqual({
    status: 422,
    problems: ['user_id required', 'listing_id required', 'room_type_id invalid'],
  })
})

test('URL problems are reported together with event problems', async () => {
  const actor = await service.actor()
  const body = { url: 'http://127.0.0.1/', events: ['nothing'] }
  expect(await problemsOf(actor, 'POST', '/v1/webhooks', body)).toEqual({
    status: 422,
    problems: ['url invalid', 'events.0 invalid'],
  })
  const made = await actor.send('POST', '/v1/webhooks', {
    body: { url: 'https://example.com/', events: ['booking.changed'] },
  })
  const path = `/v1/webhooks/${made.body.data.id}`
  expect(await problemsOf(actor, 'PATCH', path, { ...body, enabled: 5 })).toEqual({
    status: 422,
    problems: ['url invalid', 'events.0 invalid', 'enabled invalid'],
  })
  await actor.send('PATCH', path, { body: { enabled: false } })
  const { status } = await problemsOf(actor, 'POST', `${path}/deliveries/msg_${'0'.repeat(24)}/resend`)
  expect(status).toBe(404)
})

test('a held request responds when its consumer moves back, and with 404 when its consumer is deleted', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const [{ version }] = (await actor.send('GET', `${feed}/bookings`)).body.data.Bookings
  const path = `${feed}/bookings/consumers/c`
  const isHeld = () => expect.poll(() => service.live.heldRequests.size).toBe(1)
  await actor.send('PUT', path, { body: { acknowledged: version } })
  const back = actor.send('GET', `${feed}/bookings?consumer=c&wait=2`)
  await isHeld()
  await actor.send('PUT', path, { body: { acknowledged: null, seek: true } })
  expect((await back).body.data.Bookings.map((one: { booking_id: number }) => one.booking_id)).toEqual([
    booking_id,
  ])
  await actor.send('PUT', path, { body: { acknowledged: version } })
  const gone = actor.send('GET', `${feed}/bookings?consumer=c&wait=30`)
  await isHeld()
  await actor.send('DELETE', path)
  await actor.send('POST', `/v1/bookings/${booking_id}/confirm`)
  expect((await gone).status).toBe(404)
})

import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { calendarOf, dayFromNow, listingWithCalendars, startCalendarServer } from '../../support/calendars.ts'

const service = await testApp({ WEBHOOKS_ALLOW_PRIVATE: 'on' })
const strict = await testApp()
const calendars = '/integrations/provider_one/calendars'

const withAddress = (ical: unknown) => ({
  original_id: crypto.randomUUID(),
  name: 'House',
  room_types: [{ id: 'type', name: 'Room', rooms: [{ id: 'room', name: 'Room', availability: { ical } }] }],
})

test.each([
  ['https://example.com/a.ics', 201],
  ['webcal://example.com/a.ics', 201],
  ['WEBCAL://example.com/a', 201],
  ['', 201],
  [null, 201],
  ['http://example.com/a.ics', 422],
  ['https://127.0.0.1/a.ics', 422],
  ['https://localhost/a.ics', 422],
  ['webcal://10.0.0.1/a.ics', 422],
  ['ftp://example.com/a.ics', 422],
  ['webcal:', 422],
  ['a.ics', 422],
  [7, 422],
])('the address %j of a calendar is answered with %i', async (ical, status) => {
  const actor = await strict.actor()
  const response = await actor.send('POST', '/v1/listings', { body: withAddress(ical) })
  expect(response.status).toBe(status)
  if (status === 201) return
  const path = 'room_types.0.rooms.0.availability.ical'
  expect(response.body.error.errors).toMatchObject([{ path, code: 'invalid' }])
  expect(response.text).not.toContain('a.ics')
})

test('private addresses are accepted where the operator allows them', async () => {
  const actor = await service.actor()
  const response = await actor.send('POST', '/v1/listings', { body: withAddress('http://127.0.0.1/a.ics') })
  expect(response.status).toBe(201)
})

test('a host has at most 2,000 calendars; further ones wait, and take the places of those that go', async () => {
  const actor = await strict.actor()
  const roomTypes = Array.from({ length: 4 }, (_, type) => ({
    id: `t${type}`,
    name: 'Room',
    rooms: Array.from({ length: 500 }, (_, room) => ({
      id: `r${type}-${room}`,
      name: 'R',
      availability: { ical: `https://example.com/${type}-${room}` },
    })),
  }))
  const large = { original_id: 'large', name: 'Large', room_types: roomTypes }
  const { body: written } = await actor.send('POST', '/sandbox/listings', { body: large })
  const { listing_id, roomIds } = await listingWithCalendars(
    actor,
    ['https://example.com/a', 'https://example.com/b'],
    '/sandbox',
  )
  const shown = async () => {
    const { body } = await actor.send('GET', `/sandbox${calendars}?listing_id=${listing_id}`)
    return body.data.calendars.map(({ status, error }: { status: string; error: string }) => ({
      status,
      error,
    }))
  }
  const limited = { status: 'waiting', error: 'limit' }
  expect(await shown()).toEqual([limited, limited])
  const read = await actor.send('POST', `/sandbox${calendars}/${roomIds[0]}/read`)
  expect({ status: read.status, error: read.body.data.calendar.error }).toEqual({
    status: 200,
    error: 'limit',
  })
  const [type] = written.data.room_types
  const rooms = [{ id: type.rooms[0].id, availability: { ical: null } }]
  await actor.send('PATCH', `/sandbox/listings/${written.data.id}`, {
    body: { room_types: [{ id: type.id, rooms }] },
  })
  expect(await shown()).toEqual([{ status: 'waiting', error: null }, limited])
})

test("in the sandbox, a calendar is read only when asked for, and a removal can be seen on the sandbox's clock", async () => {
  const actor = await service.actor()
  const server = startCalendarServer((stop) => onTestFinished(() => stop().then(() => {})))
  server.serve('/a', calendarOf([[dayFromNow(20), dayFromNow(23)]]))
  const { roomIds } = await listingWithCalendars(actor, [`${server.url}/a`], '/sandbox')
  const at = `/sandbox${calendars}/${roomIds[0]}`
  const read = async (body?: object) => {
    const { status, body: answer } = await actor.send('POST', `${at}/read`, body ? { body } : {})
    return { status, ...answer.data?.calendar }
  }
  const advance = (advance_seconds: number) =>
    actor.send('POST', '/sandbox/clock', { body: { advance_seconds } })
  const before = (await actor.send('GET', at)).body.data.calendar
  expect(before).toMatchObject({ status: 'waiting', next_read_at: null, nights: 0 })
  expect(await read()).toMatchObject({ status: 'ok', next_read_at: null, nights: 3 })
  expect(await read()).toMatchObject({ status: 409 })
  server.serve('/a', calendarOf([[dayFromNow(20), dayFromNow(22)]]))
  await advance(60)
  expect(await read()).toMatchObject({ status: 'ok', nights: 3 })
  await advance(600)
  expect(await read()).toMatchObject({ status: 'ok', nights: 2 })
  server.serve('/a', calendarOf([]))
  await advance(60)
  expect(await read()).toMatchObject({ status: 'holding', nights: 2 })
  await advance(24 * 3600)
  expect(await read()).toMatchObject({ status: 'ok', nights: 0, held_until: null })
})

test('a listing that is sent again as it was read changes no calendar', async () => {
  const actor = await strict.actor()
  const { listing_id, roomIds } = await listingWithCalendars(actor, ['https://example.com/a'], '/sandbox')
  const entry = async () => (await actor.send('GET', `/sandbox${calendars}/${roomIds[0]}`)).body.data.calendar
  const before = await entry()
  const { body } = await actor.send('GET', `/sandbox/listings/${listing_id}`)
  const again = await actor.send('PATCH', `/sandbox/listings/${listing_id}`, { body: body.data })
  expect(again.status).toBe(200)
  expect(await entry()).toEqual(before)
})

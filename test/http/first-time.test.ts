import { expect, test } from 'vitest'
import { sender, sharedServices, testApp } from '../support/app.ts'
import { readFixture } from '../support/fixtures.ts'

const service = await testApp()

test('the first request of each create succeeds, even if eight hosts create over two processes at the same time', async () => {
  const processes = sharedServices()
  const creates = Array.from({ length: 8 }, async (_, index) => {
    const { key } = await service.actor()
    let requests = 0
    const send = sender(
      (request) => {
        requests += 1
        return fetch(request)
      },
      processes[index % 2]?.url,
    )
    const create = (path: string, body: unknown) => send('POST', path, { key, body })
    const user = await create('/v1/users', await readFixture('users/maria'))
    const listing = await create('/v1/listings', await readFixture('listings/barcelona-house'))
    const booking = await create('/v1/bookings', {
      user_id: user.body.data.user_id,
      listing_id: listing.body.data.id,
      room_type_id: listing.body.data.room_types[0].id,
      checkin_at: '2031-01-01',
      checkout_at: '2031-02-01',
    })
    const message = await create(`/v1/bookings/${booking.body.data.booking_id}/messages`, {
      message: { text: 'Hello' },
    })
    const statuses = [user, listing, booking, message].map(({ status }) => status)
    return { requests, statuses }
  })
  const first = { requests: 4, statuses: [201, 201, 201, 201] }
  expect(await Promise.all(creates)).toEqual(Array(8).fill(first))
})

test('a test that does not ask for repeats gets the first response, even if it asks to come again', async () => {
  const busy = () => new Response(null, { status: 409, headers: { 'retry-after': '0' } })
  const responses = [busy(), busy(), new Response(null, { status: 201 })]
  const send = sender(async () => responses.shift() ?? busy())
  const first = await send('POST', '/')
  const repeated = await send('POST', '/', { repeatWhileBusy: true })
  expect({ first: first.status, repeated: repeated.status }).toEqual({ first: 409, repeated: 201 })
})

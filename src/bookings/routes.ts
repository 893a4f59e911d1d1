import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { Envelope, ok } from '../http/envelope.ts'
import { answerOnce } from '../http/idempotency.ts'
import { normalize } from '../schema/normalize.ts'
import { Booking, BookingCreate } from './schema.ts'
import { prepareBooking } from './store.ts'
import { toWire } from './wire.ts'

/** Creates bookings of the key's host (contract, `POST /v1/bookings`). */
export function bookingRoutes(deps: Deps) {
  return new Elysia({ prefix: '/bookings', tags: ['Bookings'] }).use(door(deps)).post(
    '',
    (context) => {
      const input = normalize(BookingCreate, context.body)
      return answerOnce(
        deps,
        context,
        () => prepareBooking(deps, context.caller.hostId, input),
        (booking) => ({ status: 201, envelope: ok(context, toWire(booking)) }),
      )
    },
    {
      access: { permission: 'bookings.write', body: 'json', idempotent: true },
      body: BookingCreate,
      response: { 201: Envelope(Booking) },
      detail: { summary: 'Create a booking' },
    },
  )
}

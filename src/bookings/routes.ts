import { Elysia } from 'elysia'
import type { AppContext } from '../context.ts'
import { Envelope, ok } from '../http/envelope.ts'
import { guard } from '../http/guard.ts'
import { withIdempotency } from '../http/idempotency/idempotency.ts'
import { parsePathId } from '../schema/fields.ts'
import { normalize } from '../schema/normalize.ts'
import { prepareBooking } from './create.ts'
import { readBookingDetail } from './detail.ts'
import { Booking, BookingCreate, BookingInFull } from './schema.ts'
import { serializeBooking } from './serialize.ts'

/** Creates bookings of the key's host and reads them in full (contract, Endpoints). */
export function bookingRoutes(app: AppContext) {
  return new Elysia()
    .use(guard(app))
    .post(
      '/bookings',
      (context) =>
        withIdempotency(
          app,
          context,
          () => prepareBooking(app, context.caller.hostId, normalize(BookingCreate, context.body)),
          (booking) => ({ status: 201, envelope: ok(context, serializeBooking(booking)) }),
        ),
      {
        access: { permission: 'bookings.write', body: 'json', idempotent: true },
        body: BookingCreate,
        response: { 201: Envelope(Booking) },
        detail: { tags: ['Bookings'], operationId: 'createBooking', summary: 'Create a booking' },
      },
    )
    .get(
      '/integrations/:provider/bookings/:id',
      async (context) => {
        const id = parsePathId(context.params.id)
        return ok(context, { Booking: await readBookingDetail(app.db, context.caller.hostId, id) })
      },
      {
        access: { permission: 'bookings.read', provider: true, errors: ['not_found'] },
        response: { 200: Envelope(BookingInFull) },
        detail: { tags: ['Booking feed'], operationId: 'getBooking', summary: 'Read one booking in full' },
      },
    )
}

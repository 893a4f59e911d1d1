import type { Access } from '../../http/access.ts'
import type { AppContext } from '../../http/context.ts'
import { Envelope, ok } from '../../http/envelope.ts'
import { runIdempotently } from '../../http/idempotency/idempotency.ts'
import type { Accepted } from '../../http/request.ts'
import { routes } from '../../http/route.ts'
import { prepareBooking } from './create.ts'
import { preparePartnerTransition } from './partner-transition.ts'
import { Booking, BookingCancel, BookingConfirm, BookingCreate, BookingInFull } from './schema.ts'
import { prepareDetails, serializeBooking } from './serialize.ts'
import { findBooking } from './store.ts'
import type { Transition } from './transitions.ts'

/** Defines the routes that create and read (contract, Endpoints), confirm and cancel (decisions §20) bookings. */
export function bookingRoutes(app: AppContext) {
  return routes(app)
    .post(
      '/bookings',
      {
        access: { permission: 'bookings.write', body: 'json', idempotent: true },
        body: BookingCreate,
        response: { 201: Envelope(Booking) },
        detail: { tags: ['Bookings'], operationId: 'createBooking', summary: 'Create a booking' },
      },
      (context) =>
        runIdempotently(
          app,
          context,
          () => prepareBooking(app, context.caller.ownerId, context.body),
          (booking) => ({
            status: 201,
            envelope: ok(context, serializeBooking(booking)),
            userId: booking.user_id,
          }),
        ),
    )
    .post(
      '/bookings/:booking_id/confirm',
      {
        access: transitionAccess,
        body: BookingConfirm,
        response: { 200: Envelope(BookingInFull) },
        detail: { tags: ['Bookings'], operationId: 'confirmBooking', summary: 'Confirm a pending booking' },
      },
      (context) => respondToTransition(app, context, { to: 'confirmed' }),
    )
    .post(
      '/bookings/:booking_id/cancel',
      {
        access: transitionAccess,
        body: BookingCancel,
        response: { 200: Envelope(BookingInFull) },
        detail: { tags: ['Bookings'], operationId: 'cancelBooking', summary: 'Cancel a booking' },
      },
      (context) => {
        const { reason = null } = context.body
        return respondToTransition(app, context, { to: 'cancelled', reason })
      },
    )
    .get(
      '/integrations/:provider/bookings/:id',
      {
        access: { permission: 'bookings.read', provider: true, errors: ['not_found'] },
        response: { 200: Envelope(BookingInFull) },
        detail: { tags: ['Booking feed'], operationId: 'getBooking', summary: 'Read a booking in full' },
      },
      async (context) => {
        const { ownerId } = context.caller
        const booking = await findBooking(app.db, ownerId, context.params.id)
        const detailOf = await prepareDetails(app.db, ownerId, [booking])
        return ok(context, { Booking: detailOf(booking) })
      },
    )
}

const transitionAccess: Access = {
  permission: 'bookings.write',
  body: 'optional',
  idempotent: true,
  errors: ['not_found', 'conflict'],
}

function respondToTransition(
  app: AppContext,
  context: Accepted<{ booking_id: number | undefined }>,
  transition: Pick<Transition, 'to' | 'reason'>,
) {
  const id = context.params.booking_id
  return runIdempotently(
    app,
    context,
    () => preparePartnerTransition(app, context.caller, id, transition),
    ({ Booking, userId }) => ({ status: 200, envelope: ok(context, { Booking }), userId }),
  )
}

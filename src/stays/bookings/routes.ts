import type { Access } from '../../http/access.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import { Writer } from '../../http/idempotency/writer.ts'
import type { Accepted } from '../../http/request.ts'
import { routes } from '../../http/route.ts'
import { newBookings } from './create.ts'
import { partnerMoves } from './partner-transition.ts'
import { Booking, BookingCancel, BookingConfirm, BookingCreate, BookingInFull } from './schema.ts'
import { prepareDetails, serializeBooking } from './serialize.ts'
import { findBooking } from './store.ts'
import type { Transition } from './transitions.ts'

/** Defines the routes that create and read (contract, Endpoints), confirm and cancel (decisions §20) bookings. */
export function bookingRoutes(app: AppContext) {
  const create = new Writer(app, newBookings)
  // Confirmations and cancellations of one host share their turns.
  const move = new Writer(app, partnerMoves)
  const answerMove = (
    request: Accepted<{ booking_id: number | undefined }>,
    { to, reason = null }: Pick<Transition, 'to' | 'reason'>,
  ) => {
    const { caller, params } = request
    return move.answer(
      request,
      { caller, bookingId: params.booking_id, to, reason },
      ({ Booking, userId }) => ({
        status: 200,
        envelope: ok(request, { Booking }),
        userId,
      }),
    )
  }
  return routes(app)
    .post(
      '/bookings',
      {
        access: { permission: 'bookings.write', body: 'json', idempotent: true },
        body: BookingCreate,
        response: { 201: Envelope(Booking) },
        detail: {
          tags: ['Bookings'],
          operationId: 'createBooking',
          summary: 'Create a booking',
          description:
            "Checks the dates, the listing's status and the units left on each night. The listing's other wishes, such as `stay_min` or `max_occupancy`, are not checked, because partners also bring in stays that were agreed elsewhere",
        },
      },
      (request) =>
        create.answer(request, request.body, (booking) => ({
          status: 201,
          envelope: ok(request, serializeBooking(booking)),
          userId: booking.user_id,
        })),
    )
    .post(
      '/bookings/:booking_id/confirm',
      {
        access: transitionAccess,
        body: BookingConfirm,
        response: { 200: Envelope(BookingInFull) },
        detail: { tags: ['Bookings'], operationId: 'confirmBooking', summary: 'Confirm a pending booking' },
      },
      (request) => answerMove(request, { to: 'confirmed' }),
    )
    .post(
      '/bookings/:booking_id/cancel',
      {
        access: transitionAccess,
        body: BookingCancel,
        response: { 200: Envelope(BookingInFull) },
        detail: {
          tags: ['Bookings'],
          operationId: 'cancelBooking',
          summary: 'Cancel a booking',
          description:
            'Gives back what was subtracted for the booking. On a night whose range of availability was written after the booking was made, nothing was subtracted: write the range again',
        },
      },
      (request) => answerMove(request, { to: 'cancelled', reason: request.body.reason ?? null }),
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

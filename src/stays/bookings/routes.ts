import type { Access } from '../../http/access.ts'
import { Envelope, ok } from '../../http/answer/envelope.ts'
import type { AppContext } from '../../http/context.ts'
import type { Accepted } from '../../http/request.ts'
import { routes } from '../../http/route.ts'
import { newBookings } from './create.ts'
import { findBookingInFull } from './detail-store.ts'
import { type MovedBooking, partnerMoves } from './partner-transition.ts'
import { Booking, BookingCancel, BookingConfirm, BookingCreate, BookingInFull } from './schema.ts'
import { serializeBooking, serializeBookingDetail } from './serialize.ts'

/** Defines the routes that create and read (contract, Endpoints), confirm and cancel (decisions §20) bookings. */
export function bookingRoutes(app: AppContext) {
  return routes(app)
    .post(
      '/bookings',
      {
        access: { permission: 'bookings.write', body: 'json' },
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
      {
        write: newBookings,
        input: ({ body }) => body,
        respond: (request, booking) => ({
          status: 201,
          envelope: ok(request, serializeBooking(booking)),
          userId: booking.user_id,
        }),
      },
    )
    .post(
      '/bookings/:booking_id/confirm',
      {
        access: transitionAccess,
        body: BookingConfirm,
        response: { 200: Envelope(BookingInFull) },
        detail: { tags: ['Bookings'], operationId: 'confirmBooking', summary: 'Confirm a pending booking' },
      },
      {
        write: partnerMoves,
        input: ({ caller, params }) => ({
          caller,
          bookingId: params.booking_id,
          to: 'confirmed' as const,
          reason: null,
        }),
        respond: showMoved,
      },
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
      {
        write: partnerMoves,
        input: ({ caller, params, body }) => ({
          caller,
          bookingId: params.booking_id,
          to: 'cancelled' as const,
          reason: body.reason ?? null,
        }),
        respond: showMoved,
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
        const { booking, guest, roomTypeName } = await findBookingInFull(app.db, ownerId, context.params.id)
        return ok(context, { Booking: serializeBookingDetail(booking, guest, roomTypeName) })
      },
    )
}

const transitionAccess: Access = {
  permission: 'bookings.write',
  body: 'optional',
  errors: ['not_found', 'conflict'],
}

function showMoved(request: Accepted, { Booking, userId }: MovedBooking) {
  return { status: 200, envelope: ok(request, { Booking }), userId } as const
}

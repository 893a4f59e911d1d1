import { Elysia } from 'elysia'
import type { Access } from '../../http/access.ts'
import type { AppContext } from '../../http/context.ts'
import { Envelope, ok } from '../../http/envelope.ts'
import { guard } from '../../http/guard.ts'
import { type IdempotentContext, runIdempotently } from '../../http/idempotency/idempotency.ts'
import { parsePathId } from '../../http/path-ids.ts'
import { prepareBooking } from './create.ts'
import { preparePartnerTransition } from './partner-transition.ts'
import { Booking, BookingCancel, BookingConfirm, BookingCreate, BookingInFull } from './schema.ts'
import { prepareDetails, serializeBooking } from './serialize.ts'
import { findBooking } from './store.ts'
import type { Transition } from './transitions.ts'

/** Defines the routes that create and read (contract, Endpoints), confirm and cancel (decisions §20) bookings. */
export function bookingRoutes(app: AppContext) {
  return new Elysia()
    .use(guard(app))
    .post(
      '/bookings',
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
    )
    .post(
      '/bookings/:booking_id/confirm',
      (context) => respondToTransition(app, context, { to: 'confirmed' }),
      {
        access: transitionAccess,
        body: BookingConfirm,
        response: { 200: Envelope(BookingInFull) },
        detail: { tags: ['Bookings'], operationId: 'confirmBooking', summary: 'Confirm a pending booking' },
      },
    )
    .post(
      '/bookings/:booking_id/cancel',
      (context) => {
        const { reason = null } = context.body
        return respondToTransition(app, context, { to: 'cancelled', reason })
      },
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
    )
    .get(
      '/integrations/:provider/bookings/:id',
      async (context) => {
        const { ownerId } = context.caller
        const booking = await findBooking(app.db, ownerId, parsePathId(context.params.id))
        const detailOf = await prepareDetails(app.db, ownerId, [booking])
        return ok(context, { Booking: detailOf(booking) })
      },
      {
        access: { permission: 'bookings.read', provider: true, errors: ['not_found'] },
        response: { 200: Envelope(BookingInFull) },
        detail: { tags: ['Booking feed'], operationId: 'getBooking', summary: 'Read a booking in full' },
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
  context: IdempotentContext & { params: { booking_id: string } },
  transition: Pick<Transition, 'to' | 'reason'>,
) {
  const id = parsePathId(context.params.booking_id)
  return runIdempotently(
    app,
    context,
    () => preparePartnerTransition(app, context.caller, id, transition),
    ({ Booking, userId }) => ({ status: 200, envelope: ok(context, { Booking }), userId }),
  )
}

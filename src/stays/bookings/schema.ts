import { type Static, Type } from '@sinclair/typebox'
import { daysBetween } from '../../core/clock.ts'
import type { Problem } from '../../core/errors.ts'
import {
  idInBody,
  optional,
  optionalIdInBody,
  output,
  requestObject,
  requiredDate,
  responseObject,
  text,
  withTitle,
} from '../../http/input/schema/fields.ts'

const maxMessage = 5000

/** Body of `POST /v1/bookings` (contract, Booking; decisions §6). */
export const BookingCreate = withTitle(
  'BookingCreate',
  requestObject(
    {
      user_id: idInBody('Id of a user created by this host'),
      listing_id: idInBody("Id of one of the host's listings; the listing must not be inactive"),
      room_type_id: optionalIdInBody(
        'Id of a room type of the listing; may be null or absent only if the listing has exactly one room type',
      ),
      checkin_at: requiredDate('First night of the stay; past dates are allowed'),
      checkout_at: requiredDate('Day after the last night; at most 1095 nights after `checkin_at`'),
      message: optional(
        text(maxMessage, { trims: true }),
        'Message from the guest, trimmed; stored as `special_requests` and as the first message; null for no message',
      ),
    },
    ({ checkin_at, checkout_at }, isValidAt) =>
      isValidAt('checkin_at') && isValidAt('checkout_at') ? stayProblems(checkin_at, checkout_at) : [],
  ),
)
export type BookingCreate = Static<typeof BookingCreate>

/** Maximum length of a cancellation reason, in characters. */
export const maxReason = 1000

/** Body of `POST /v1/bookings/{id}/cancel` (decisions §20). */
export const BookingCancel = withTitle(
  'BookingCancel',
  requestObject({
    reason: optional(
      text(maxReason, { trims: true }),
      'Reason for the cancellation, trimmed; null for no reason',
    ),
  }),
)

/** Body of `POST /v1/bookings/{id}/confirm`, which has no fields. */
export const BookingConfirm = withTitle('BookingConfirm', requestObject({}))

/** Fields shared by several representations of a booking. */
export const bookingFields = {
  booking_id: output.integer('Id of the booking', 'id'),
  listing_id: output.integer('Id of the listing', 'id'),
  room_type_id: output.integer('Id of the room type', 'id'),
  status_word: output.literal('Status of the booking', 'pending', 'confirmed', 'cancelled'),
  checkin_at: output.date('First night of the stay'),
  checkout_at: output.date('Day after the last night'),
  nights: output.integer('Number of nights', 'id'),
  currency: output.text(
    'ISO currency code of all amounts, in upper case; determines how many decimal places they have (ISO 4217)',
    'currency',
  ),
  version: output.text(
    'Version of this change, in UTC; pass the last version received as `updated_after`',
    'version',
  ),
  created_at: output.timestamp('Time at which the booking was created'),
  updated_at: output.timestamp('Version as a timestamp; may be ahead of the clock after a burst of changes'),
}

const { booking_id, listing_id, room_type_id, checkin_at, checkout_at, nights, currency } = bookingFields
const { created_at, updated_at, version, status_word } = bookingFields
const specialRequests = () =>
  output.textOrNull('Special requests made by the guest when booking; null if there were none')
const cancellationReason = () =>
  output.textOrNull(
    'Reason for the cancellation; null if the booking is not cancelled or no reason was given',
  )
const source = () => output.literal('Source of the booking', 'api')
const apiCreated = () => output.boolean('Whether the booking was created through this API')
const notKept = (what: string) =>
  output.textOrNull(`${what}; always null, because this service does not store it`)

/** A booking in a create response, as specified in the contract. */
export const Booking = withTitle(
  'Booking',
  responseObject({
    booking_id,
    booking_no: output.text('Booking number: `BK-` followed by the id'),
    user_id: output.integer('Id of the guest', 'id'),
    host_id: output.integer('Id of the host', 'id'),
    listing_id,
    room_type_id,
    checkin_at,
    checkout_at,
    nights,
    guests: output.integer('Number of guests; always 1', 'count'),
    rooms: output.integer('Number of units; always 1', 'count'),
    status: output.integer('Status as a number: 1 for pending, 2 for confirmed, 3 for cancelled', 'id'),
    type: output.literal('Kind of booking', 'api_booking'),
    currency,
    price: output.number('Price of all nights before discount and fees, in major units, rounded half up'),
    price_local: output.number('Same as `price`'),
    price_total: output.number('Price minus the discount plus mandatory one-off fees, in major units'),
    price_total_local: output.number('Same as `price_total`'),
    security_deposit: output.number(
      'Security deposit of the listing, in major units; not included in the total',
    ),
    security_deposit_local: output.number('Same as `security_deposit`'),
    discount: output.number('Discount for the length of the stay, in major units'),
    transaction_fee: output.number('Transaction fee; always 0'),
    service_fee: output.number('Service fee; always 0'),
    service_fee_total: output.number('Total service fee; always 0'),
    is_recurring: output.flag('Whether the booking recurs; always 0'),
    managed: output.flag('Whether the platform manages the booking; always 0'),
    payout_ready: output.flag('Whether the payout is ready; always 0'),
    recurring_at: notKept('Time of the next recurrence'),
    lifecycle: notKept('Lifecycle on the platform'),
    payment_status: notKept('Payment status'),
    lead_status: notKept('Lead status'),
    source: source(),
    api_created: apiCreated(),
    special_requests: specialRequests(),
    cancellation_reason: cancellationReason(),
    dispute_reason: notKept('Reason for a dispute'),
    paid_at: notKept('Time at which the guest paid'),
    paid_to_host_at: notKept('Time at which the host was paid'),
    invoiced_at: notKept('Time at which the booking was invoiced'),
    canceled_at: output.timestampOrNull(
      'Time at which the booking was cancelled; null if it has not been cancelled',
    ),
    missed_at: notKept('Time at which the guest missed the booking'),
    confirmed_at: output.timestampOrNull(
      'Time at which the booking was confirmed; null if it has not been confirmed',
    ),
    extended_at: notKept('Time at which the booking was extended'),
    meta: responseObject(
      {
        source: source(),
        api_created: apiCreated(),
        special_requests: specialRequests(),
      },
      'Origin of the booking and special requests',
    ),
    created_at,
    updated_at,
  }),
)
export type Booking = Static<typeof Booking>

/** A booking in full (contract, Booking detail). */
export const BookingDetail = withTitle(
  'BookingDetail',
  responseObject({
    booking_id,
    booking_reference: output.text('Human-readable reference: `BK-` followed by the id'),
    listing_id,
    room_type_id,
    room_type_name: output.textOrNull('Current name of the room type; null if it has no name'),
    room_id: output.integerOrNull('Id of the room; always null, because bookings are for a room type', 'id'),
    status: status_word,
    checkin_at,
    checkout_at,
    nights,
    guests: responseObject(
      {
        total: output.integer('Number of guests', 'count'),
        rooms: output.integer('Number of units', 'count'),
      },
      'Number of guests and units',
    ),
    guest: responseObject(
      {
        name: output.textOrNull('Name of the guest; null if unknown'),
        email: output.textOrNull('E-mail address of the guest; null if unknown', 'email'),
        phone: output.textOrNull('Telephone number of the guest, as sent; null if unknown'),
        country: output.textOrNull(
          'Two-letter country code of the guest; null if it cannot be determined, or if the name means two countries and the language of the guest does not decide',
          'country',
        ),
      },
      'The guest',
    ),
    pricing: responseObject(
      {
        currency,
        total: output.number('Total price, in major units'),
        total_local: nullableTotal(),
        security_deposit: output.number('Security deposit, in major units; not included in the total'),
      },
      'Price',
    ),
    cancellation_reason: cancellationReason(),
    notes: output.textOrNull('Special requests made by the guest when booking; null if there were none'),
    erased_at: output.timestampOrNull(
      "Time at which the guest's data in the booking was erased; null if it has not been erased",
    ),
    meta: responseObject(
      { version, created_at, updated_at },
      'Version and times of creation and last change',
    ),
  }),
)
export type BookingDetail = Static<typeof BookingDetail>

function nullableTotal() {
  return Type.Union([Type.Number(), Type.Null()], {
    description: 'Same as `total`; null if it cannot be converted',
  })
}

/** Response `data` that contains a booking in full. The contract prescribes the key `Booking`. */
export const BookingInFull = responseObject({ Booking: BookingDetail }, 'The booking')

const maxStayNights = 1095

/** Checks whether two dates form a valid stay (decisions §6). Returns at most one problem, at `checkout_at`. */
function stayProblems(checkinAt: string, checkoutAt: string): Problem[] {
  const nights = daysBetween(checkinAt, checkoutAt)
  const path = 'checkout_at'
  if (nights < 1) return [{ path, code: 'invalid', message: '"checkout_at" must be after "checkin_at"' }]
  if (nights <= maxStayNights) return []
  return [{ path, code: 'max', message: `A stay must be at most ${maxStayNights} nights long` }]
}

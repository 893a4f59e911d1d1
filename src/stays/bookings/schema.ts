import { type Static, Type } from '@sinclair/typebox'
import { daysBetween } from '../../core/clock.ts'
import type { Problem } from '../../core/errors.ts'
import {
  idInBody,
  named,
  optional,
  requestObject,
  requiredDate,
  responseObject,
  shown,
  text,
} from '../../http/schema/fields.ts'

const maxMessage = 5000

/** Body of `POST /v1/bookings` (contract, Booking; decisions §6). */
export const BookingCreate = named(
  'BookingCreate',
  requestObject(
    {
      user_id: idInBody('Id of a user that this host has created'),
      listing_id: idInBody('Id of a listing of this host that is not inactive'),
      room_type_id: optional(
        idInBody(),
        'Id of a room type of the listing; null or absent only if the listing has exactly one',
      ),
      checkin_at: requiredDate('First night of the stay; past dates are allowed'),
      checkout_at: requiredDate('Day after the last night; at most 1095 nights after `checkin_at`'),
      message: optional(
        text(maxMessage, { trims: true }),
        'Message of the guest, trimmed; it becomes `special_requests` and the first message. Null for none',
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
export const BookingCancel = named(
  'BookingCancel',
  requestObject({
    reason: optional(
      text(maxReason, { trims: true }),
      'Why the booking is cancelled, trimmed; null for no reason',
    ),
  }),
)

/** Body of `POST /v1/bookings/{id}/confirm`, which has no fields. */
export const BookingConfirm = named('BookingConfirm', requestObject({}))

/** Fields shared by several representations of a booking. */
export const bookingFields = {
  booking_id: shown.integer('Id of the booking', 'id'),
  listing_id: shown.integer('Id of the listing', 'id'),
  room_type_id: shown.integer('Id of the room type', 'id'),
  status_word: shown.word('Status of the booking', 'pending', 'confirmed', 'cancelled'),
  checkin_at: shown.date('First night of the stay'),
  checkout_at: shown.date('Day after the last night'),
  nights: shown.integer('Number of nights', 'id'),
  currency: shown.text('ISO currency code of all amounts, in upper case', 'currency'),
  version: shown.text('Version of this change, in UTC; pass the last one as `updated_after`', 'version'),
  created_at: shown.timestamp('When the booking was created'),
  updated_at: shown.timestamp(
    'The version as a timestamp; after a burst of changes it may be ahead of the clock',
  ),
}

const { booking_id, listing_id, room_type_id, checkin_at, checkout_at, nights, currency } = bookingFields
const { created_at, updated_at, version, status_word } = bookingFields
const specialRequests = () => shown.textOrNull('What the guest asked for when booking; null for nothing')
const cancellationReason = () =>
  shown.textOrNull('Why it was cancelled; null if not cancelled or no reason was given')
const source = () => shown.word('Where the booking comes from', 'api')
const apiCreated = () => shown.boolean('Whether it was created through this interface')
const notKept = (what: string) => shown.textOrNull(`${what}; null, because this service does not keep it`)

/** The booking in a create response, as the contract specifies it. */
export const Booking = named(
  'Booking',
  responseObject({
    booking_id,
    booking_no: shown.text('Number of the booking: `BK-` and its id'),
    user_id: shown.integer('Id of the guest', 'id'),
    host_id: shown.integer('Id of the host account', 'id'),
    listing_id,
    room_type_id,
    checkin_at,
    checkout_at,
    nights,
    guests: shown.integer('Number of guests, always 1', 'count'),
    rooms: shown.integer('Number of units, always 1', 'count'),
    status: shown.integer('Status as a number: 1 pending, 2 confirmed, 3 cancelled', 'id'),
    type: shown.word('Kind of booking', 'api_booking'),
    currency,
    price: shown.number('Price of all nights in major units, before discount and fees'),
    price_local: shown.number('The same as `price`'),
    price_total: shown.number('Price minus discount plus mandatory one-off fees, in major units'),
    price_total_local: shown.number('The same as `price_total`'),
    security_deposit: shown.number('Security deposit of the listing in major units, not part of the total'),
    security_deposit_local: shown.number('The same as `security_deposit`'),
    discount: shown.number('Discount for the length of the stay, in major units'),
    transaction_fee: shown.number('Transaction fee, always 0'),
    service_fee: shown.number('Service fee, always 0'),
    service_fee_total: shown.number('Total service fee, always 0'),
    is_recurring: shown.flag('Whether the booking recurs, always 0'),
    managed: shown.flag('Whether the platform manages the booking, always 0'),
    payout_ready: shown.flag('Whether the payout is ready, always 0'),
    recurring_at: notKept('Next recurrence'),
    lifecycle: notKept('Lifecycle on the platform'),
    payment_status: notKept('Status of the payment'),
    lead_status: notKept('Status as a lead'),
    source: source(),
    api_created: apiCreated(),
    special_requests: specialRequests(),
    cancellation_reason: cancellationReason(),
    dispute_reason: notKept('Reason of a dispute'),
    paid_at: notKept('When the guest paid'),
    paid_to_host_at: notKept('When the host was paid'),
    invoiced_at: notKept('When it was invoiced'),
    canceled_at: shown.timestampOrNull('When it was cancelled; null if it is not'),
    missed_at: notKept('When the guest missed it'),
    confirmed_at: shown.timestampOrNull('When it was confirmed; null if it has not been'),
    extended_at: notKept('When it was extended'),
    meta: responseObject(
      {
        source: source(),
        api_created: apiCreated(),
        special_requests: specialRequests(),
      },
      'How the booking came about',
    ),
    created_at,
    updated_at,
  }),
)
export type Booking = Static<typeof Booking>

/** A booking in full (contract, Booking detail). */
export const BookingDetail = named(
  'BookingDetail',
  responseObject({
    booking_id,
    booking_reference: shown.text('Reference for people: `BK-` and the id'),
    listing_id,
    room_type_id,
    room_type_name: shown.textOrNull('Current name of the room type; null if it has none'),
    room_id: shown.integerOrNull('Id of the room; null, because bookings are for a room type', 'id'),
    status: status_word,
    checkin_at,
    checkout_at,
    nights,
    guests: responseObject(
      {
        total: shown.integer('Number of guests', 'count'),
        rooms: shown.integer('Number of units', 'count'),
      },
      'Number of guests and units',
    ),
    guest: responseObject(
      {
        name: shown.textOrNull('Name of the guest; null if unknown'),
        email: shown.textOrNull('E-mail address of the guest; null if unknown', 'email'),
        phone: shown.textOrNull('Telephone number of the guest as it was sent; null if unknown'),
        country: shown.textOrNull(
          'Two-letter country code of the guest; null if it cannot be determined',
          'country',
        ),
      },
      'The guest',
    ),
    pricing: responseObject(
      {
        currency,
        total: shown.number('Total price in major units'),
        total_local: nullableTotal(),
        security_deposit: shown.number('Security deposit in major units, not part of the total'),
      },
      'Price',
    ),
    cancellation_reason: cancellationReason(),
    notes: shown.textOrNull('What the guest asked for when booking; null for nothing'),
    erased_at: shown.timestampOrNull('When what it held of its guest was erased; null for all others'),
    meta: responseObject({ version, created_at, updated_at }, 'When it was created and changed'),
  }),
)
export type BookingDetail = Static<typeof BookingDetail>

function nullableTotal() {
  return Type.Union([Type.Number(), Type.Null()], {
    description: 'The same as `total`; null if it cannot be converted',
  })
}

/** Response `data` that contains a booking in full. The contract fixes the key `Booking`. */
export const BookingInFull = responseObject({ Booking: BookingDetail }, 'The booking')

const maxStayNights = 1095

/** Returns the reason why two dates are not a valid stay (decisions §6): at most one problem, at `checkout_at`. */
function stayProblems(checkinAt: string, checkoutAt: string): Problem[] {
  const nights = daysBetween(checkinAt, checkoutAt)
  const path = 'checkout_at'
  if (nights < 1) return [{ path, code: 'invalid', message: '"checkout_at" must be after "checkin_at"' }]
  if (nights <= maxStayNights) return []
  return [{ path, code: 'max', message: `A stay must be at most ${maxStayNights} nights long` }]
}

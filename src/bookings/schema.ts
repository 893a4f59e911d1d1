import { type Static, Type } from '@sinclair/typebox'
import {
  idInBody,
  nullable,
  optional,
  requestObject,
  requiredDate,
  responseObject,
  text,
} from '../schema/fields.ts'
import { stayProblems } from './stay.ts'

const longestMessage = 5000

/** Body of `POST /v1/bookings` (contract, Booking; decisions §6). */
export const BookingCreate = requestObject(
  {
    user_id: idInBody(),
    listing_id: idInBody(),
    room_type_id: optional(idInBody()),
    checkin_at: requiredDate(),
    checkout_at: requiredDate(),
    message: optional(text(longestMessage, { trims: true })),
  },
  ({ checkin_at, checkout_at }, isValidAt) =>
    isValidAt('checkin_at') && isValidAt('checkout_at') ? stayProblems(checkin_at, checkout_at) : [],
)
export type BookingCreate = Static<typeof BookingCreate>

const integer = Type.Integer()
const number = Type.Number()
const string = Type.String()
const stringOrNull = nullable(Type.String())

/** A booking as the contract writes it in the response of create. */
export const Booking = responseObject({
  booking_id: integer,
  booking_no: string,
  user_id: integer,
  host_id: integer,
  listing_id: integer,
  room_type_id: integer,
  checkin_at: string,
  checkout_at: string,
  nights: integer,
  guests: integer,
  rooms: integer,
  status: integer,
  type: string,
  currency: string,
  price: number,
  price_local: number,
  price_total: number,
  price_total_local: number,
  security_deposit: number,
  security_deposit_local: number,
  discount: number,
  transaction_fee: number,
  service_fee: number,
  service_fee_total: number,
  is_recurring: integer,
  managed: integer,
  payout_ready: integer,
  recurring_at: stringOrNull,
  lifecycle: stringOrNull,
  payment_status: stringOrNull,
  lead_status: stringOrNull,
  source: string,
  api_created: Type.Boolean(),
  special_requests: stringOrNull,
  cancellation_reason: stringOrNull,
  dispute_reason: stringOrNull,
  paid_at: stringOrNull,
  paid_to_host_at: stringOrNull,
  invoiced_at: stringOrNull,
  canceled_at: stringOrNull,
  missed_at: stringOrNull,
  confirmed_at: stringOrNull,
  extended_at: stringOrNull,
  meta: responseObject({ source: string, api_created: Type.Boolean(), special_requests: stringOrNull }),
  created_at: string,
  updated_at: string,
})
export type Booking = Static<typeof Booking>

/** A booking in full (contract, Booking detail). */
export const BookingDetail = responseObject({
  booking_id: Type.Integer(),
  booking_reference: Type.String(),
  listing_id: Type.Integer(),
  room_type_id: Type.Integer(),
  room_type_name: stringOrNull,
  room_id: nullable(Type.Integer()),
  status: Type.String(),
  checkin_at: Type.String(),
  checkout_at: Type.String(),
  nights: Type.Integer(),
  guests: responseObject({ total: Type.Integer(), rooms: Type.Integer() }),
  guest: responseObject({
    name: stringOrNull,
    email: stringOrNull,
    phone: stringOrNull,
    country: stringOrNull,
  }),
  pricing: responseObject({
    currency: Type.String(),
    total: Type.Number(),
    total_local: nullable(Type.Number()),
    security_deposit: Type.Number(),
  }),
  notes: stringOrNull,
  meta: responseObject({ version: Type.String(), created_at: Type.String(), updated_at: Type.String() }),
})
export type BookingDetail = Static<typeof BookingDetail>

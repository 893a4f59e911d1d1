import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  count,
  date,
  idInBody,
  money,
  optional,
  requestObject,
  requiredText,
  text,
  webAddress,
  word,
} from '../schema/fields.ts'

/**
 * The fields of a listing, written once: for the body of create and update, and for the response of a read.
 * Every scalar may be null (which clears it); an object or array may be left out but not be null; a response
 * is always complete (decisions §5).
 */

/** The most elements one list of a listing may have. */
export const longestList = 500

const string = (maxLength?: number) => optional(text(maxLength))
const description = () => string(10_000)
const enumerated = () => optional(word())
const address = () => optional(webAddress())
const number = () => optional(Type.Number({ minimum: 0, maximum: 1_000_000_000 }))
const amount = () => optional(money())
const percent = () => optional(Type.Number({ minimum: 0, maximum: 100 }))
const whole = () => optional(count())
const flag = () => optional(count(1))
const timeOfDay = () => optional(text(64, { format: 'time-of-day' }))
const currency = () => optional(text(64, { format: 'currency' }))
const list = <T extends TSchema>(item: T) => Type.Optional(Type.Array(item, { maxItems: longestList }))
const group = <T extends Parameters<typeof Type.Object>[0]>(fields: T) => Type.Optional(Type.Object(fields))

const references = () => list(Type.Object({ id: idInBody() }))
const photos = () => list(Type.Object({ url: address(), description: description() }))
/** May be left out, and null only if none is stored, so that what was read can be sent back. `merge.ts` checks it. */
const elementName = () => optional(requiredText())
/** Ours as an integer, or the partner's own as a string; `merge.ts` decides what a string of digits is. */
const elementId = () =>
  optional(
    Type.Unsafe<number | string>(
      Type.Union([Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), text()], {
        respondsAs: 'id',
      }),
    ),
  )

export const months = [
  'jan',
  'feb',
  'mar',
  'apr',
  'may',
  'jun',
  'jul',
  'aug',
  'sep',
  'oct',
  'nov',
  'dec',
] as const
type Month = (typeof months)[number]

/** The twelve monthly overrides, as fields made by `field`. */
export function monthlyPrices<T extends TSchema>(field: () => T): Record<`price_${Month}`, T> {
  return Object.fromEntries(months.map((month) => [`price_${month}`, field()])) as Record<`price_${Month}`, T>
}

const RoomTypePrices = Type.Object({
  base_price: optional(money({ belowMinimum: 'invalid' })),
  ...monthlyPrices(amount),
  discount_90: percent(),
  discount_180: percent(),
  discount_360: percent(),
})

const Room = Type.Object({
  id: elementId(),
  name: elementName(),
  description: description(),
  availability: group({ ical: address() }),
})

const RoomType = Type.Object({
  id: elementId(),
  name: elementName(),
  room_type: enumerated(),
  bed_type: enumerated(),
  bathroom_type: enumerated(),
  gender: enumerated(),
  application_url: address(),
  room_size: number(),
  room_size_unit: enumerated(),
  max_occupancy: whole(),
  available_at: optional(date()),
  rooms: list(Room),
  prices: Type.Optional(RoomTypePrices),
  amenities: references(),
  photos: photos(),
})

const ExtraFee = Type.Object({
  name: string(),
  description: description(),
  mandatory: flag(),
  type: enumerated(),
  sum: amount(),
  frequency: enumerated(),
})

const fields = {
  original_id: string(),
  original_url: address(),
  name: Type.Optional(requiredText()),
  property_size: number(),
  property_size_unit: enumerated(),
  parking: string(),
  internet_download: number(),
  internet_upload: number(),
  bedrooms: whole(),
  bathrooms: whole(),
  residents: whole(),
  descriptions: group({ property: description(), neighborhood: description(), community: description() }),
  location: group({
    address: string(),
    zip: string(),
    neighborhood: string(),
    city: string(),
    state: string(),
    country: string(),
    lat: optional(Type.Number({ minimum: -90, maximum: 90 })),
    lng: optional(Type.Number({ minimum: -180, maximum: 180 })),
  }),
  amenities: references(),
  prices: group({
    currency: currency(),
    security_deposit_type: enumerated(),
    security_deposit: amount(),
    extra_fees: list(ExtraFee),
  }),
  room_types: list(RoomType),
  bookings: group({
    stay_min: whole(),
    notice_min_days: whole(),
    move_in_max_days: whole(),
    application_url: address(),
    cancellation_policy: enumerated(),
    booking_rules: description(),
  }),
  community: group({
    age_min: whole(),
    age_max: whole(),
    age_avg: whole(),
    gender: enumerated(),
    gender_ratio: number(),
    events: references(),
    community_manager: group({ name: string(), photo: address(), onsite: flag() }),
    types: references(),
  }),
  media: group({
    '3d_tour': address(),
    video_tour: group({ type: enumerated(), url: address() }),
    photos: group({ property: photos(), community: photos() }),
  }),
  instructions: group({
    check_in_earliest: timeOfDay(),
    check_in_latest: timeOfDay(),
    check_out_latest: timeOfDay(),
    check_in_contact_person: string(),
    check_in_telephone_country: string(),
    check_in_telephone_number: string(),
    check_in_instructions: description(),
    directions: description(),
    house_manual: description(),
  }),
  faq: list(Type.Object({ question: string(), answer: description() })),
  rating: group({ places_id: string() }),
}

/** Body of `PATCH /v1/listings/{id}`: any subset. */
export const ListingPatch = requestObject(fields)
export type ListingPatch = Static<typeof ListingPatch>

/** Body of `POST /v1/listings`. */
export const ListingCreate = requestObject({ ...fields, name: requiredText() })

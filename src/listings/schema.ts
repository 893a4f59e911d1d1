import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { answerOf, type Whole } from '../http/shape.ts'
import {
  answerObject,
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
} from '../http/types.ts'

/**
 * The listing shape of the contract, written once: body of create and update, and answer of a read.
 * Every scalar may be null (that clears it); an object or array may be left out but not be null; an answer
 * is always whole (decisions §5).
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
const whole = (maximum?: number) => optional(count(maximum))
const flag = () => whole(1)
const timeOfDay = () => optional(Type.String({ format: 'time-of-day', maxLength: 64 }))
const currency = () => optional(text(64, { format: 'currency' }))
const list = <T extends TSchema>(item: T) => Type.Optional(Type.Array(item, { maxItems: longestList }))
const group = <T extends Parameters<typeof Type.Object>[0]>(fields: T) => Type.Optional(Type.Object(fields))

const references = () => list(Type.Object({ id: idInBody() }))
const photos = () => list(Type.Object({ url: address(), description: description() }))
/** May be left out, and null only where none is stored: what was read can always be sent back. `merge.ts` checks. */
const elementName = () => optional(requiredText())
/** Ours as an integer, or the partner's own as a string; which of them a digit string is, `merge.ts` decides. */
const elementId = () =>
  optional(
    Type.Unsafe<number | string>(
      Type.Union([Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), text()], {
        answerAs: 'id',
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
  base_price: optional(money({ errorCode: 'invalid' })),
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
    age_min: whole(150),
    age_max: whole(150),
    age_avg: whole(150),
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

export const listingStatuses = ['draft', 'pending', 'published', 'inactive'] as const
export type ListingStatus = (typeof listingStatuses)[number]

const { properties } = answerOf(ListingPatch) as unknown as { properties: Record<string, TSchema> }

/** Answer of `GET /v1/listings/{id}`. */
export const Listing = Type.Unsafe<
  { id: number; unique_id: string; listing_status: string; created_at: string; updated_at: string } & Omit<
    Whole<ListingPatch>,
    never
  >
>(
  answerObject({
    id: Type.Integer(),
    unique_id: Type.String(),
    listing_status: Type.String(),
    ...properties,
    created_at: Type.String(),
    updated_at: Type.String(),
  }),
)
export type Listing = Static<typeof Listing>

const Named = { id: Type.Integer(), name: Type.Union([Type.String(), Type.Null()]) }

/** One row of `GET /v1/listings`. */
export const ListingListItem = answerObject({
  id: Type.Integer(),
  unique_id: Type.String(),
  original_id: Type.Union([Type.String(), Type.Null()]),
  name: Type.String(),
  listing_status: Type.String(),
  updated_at: Type.String(),
  room_types: Type.Array(answerObject({ ...Named, rooms: Type.Array(answerObject(Named)) })),
})
export type ListingListItem = Static<typeof ListingListItem>

const Status = Type.Union(listingStatuses.map((status) => Type.Literal(status)))

export const listingSorts = ['id', 'name', 'updated_at', 'listing_status'] as const
export type ListingSort = (typeof listingSorts)[number]

/** Query of `GET /v1/listings`, beside the page. */
export const listingFilters = {
  sort: Type.Optional(Type.Union(listingSorts.map((sort) => Type.Literal(sort)))),
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
  listing_status: Type.Optional(Type.Array(Status, { maxItems: 100 })),
  q: Type.Optional(text(255)),
}

/** Answer of create and update (contract, Listing write result). */
export const ListingWriteResult = answerObject({
  action: Type.Union([Type.Literal('created'), Type.Literal('updated')]),
  data: answerObject({
    id: Type.Integer(),
    original_id: Type.Union([Type.String(), Type.Null()]),
    links: answerObject({ preview: Type.String() }),
  }),
  meta: answerObject({
    request_id: Type.Optional(Type.String()),
    sandbox: Type.Optional(Type.Literal(true)),
  }),
})

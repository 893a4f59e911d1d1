import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  count,
  date,
  idInBody,
  money,
  named,
  optional,
  requestObject,
  requiredText,
  text,
  webAddress,
  word,
} from '../../http/schema/fields.ts'

/**
 * The fields of a listing, defined once for the body of create and update and for the response of a read. Every scalar
 * may be null, which clears it. An object or array may be left out but must not be null. A response is always complete
 * (decisions §5).
 */

/** Maximum number of elements in one list of a listing. */
export const maxList = 500

const clearable = <T extends TSchema>(about: string, schema: T) =>
  optional(schema, `${about}; null if not set`)
const string = (about: string, maxLength?: number) => clearable(about, text(maxLength))
const longText = (about: string) => string(about, 10_000)
const enumerated = (about: string) => clearable(`${about}, any word`, word())
const address = (about: string) => clearable(`${about}; stored, never fetched`, webAddress())
const number = (about: string) => clearable(about, Type.Number({ minimum: 0, maximum: 1_000_000_000 }))
const amount = (about: string) => clearable(`${about}, in major units`, money())
const percent = (about: string) =>
  clearable(`${about}, in percent`, Type.Number({ minimum: 0, maximum: 100 }))
const whole = (about: string) => clearable(about, count())
const flag = (about: string) => clearable(`${about}: 1 yes, 0 no`, count(1))
const timeOfDay = (about: string) => clearable(`${about}, as HH:MM`, text(64, { format: 'time-of-day' }))
const list = <T extends TSchema>(about: string, item: T) =>
  Type.Optional(Type.Array(item, { maxItems: maxList, description: about }))
const group = <T extends Parameters<typeof Type.Object>[0]>(about: string, fields: T) =>
  Type.Optional(Type.Object(fields, { description: about }))

const Reference = named('ReferenceWrite', Type.Object({ id: idInBody("Id in the platform's own list") }))
const references = (about: string) => list(`${about}; replaced as a whole with each write`, Reference)
const Photo = named(
  'PhotoWrite',
  Type.Object({ url: address('Address of the picture'), description: longText('What the picture shows') }),
)
const photos = (about: string) => list(`${about}; replaced as a whole with each write`, Photo)
/**
 * May be left out, and may be null only if no name is stored, so that a listing that was read can be sent back.
 * `merge.ts` checks this.
 */
const elementName = (what: string) =>
  optional(requiredText(), `Name of the ${what}; null is refused once a name is stored`)
/** Our id as an integer, or the partner's own as a string. `merge.ts` decides how to read a string of digits. */
const elementId = (what: string) =>
  optional(
    Type.Unsafe<number | string>(
      Type.Union([Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), text()], {
        respondsAs: 'id',
      }),
    ),
    `Id of the ${what}: ours as an integer or, on create, your own as a string; absent or null adds a new one`,
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

const monthNames: Record<Month, string> = {
  jan: 'January',
  feb: 'February',
  mar: 'March',
  apr: 'April',
  may: 'May',
  jun: 'June',
  jul: 'July',
  aug: 'August',
  sep: 'September',
  oct: 'October',
  nov: 'November',
  dec: 'December',
}

/** Returns the twelve monthly price fields, each made by `field` from the month's name. */
export function monthlyPrices<T extends TSchema>(
  field: (monthName: string) => T,
): Record<`price_${Month}`, T> {
  return Object.fromEntries(months.map((month) => [`price_${month}`, field(monthNames[month])])) as Record<
    `price_${Month}`,
    T
  >
}

const RoomTypePrices = named(
  'RoomTypePricesWrite',
  Type.Object({
    base_price: optional(
      money({ belowMinimum: 'invalid' }),
      'Price of a month without a price of its own, in major units; null if not set',
    ),
    ...monthlyPrices((month) => amount(`Price of ${month} instead of the base price`)),
    discount_90: percent('Discount for stays of 90 nights or more'),
    discount_180: percent('Discount for stays of 180 nights or more, instead of the shorter one'),
    discount_360: percent('Discount for stays of 360 nights or more, instead of the shorter ones'),
  }),
)

const Room = named(
  'RoomWrite',
  Type.Object({
    id: elementId('room'),
    name: elementName('room'),
    description: longText('Description of the room'),
    availability: group('Where its availability is kept elsewhere', {
      ical: address('Address of an iCalendar file'),
    }),
  }),
)

const RoomType = named(
  'RoomTypeWrite',
  Type.Object({
    id: elementId('room type'),
    name: elementName('room type'),
    room_type: enumerated('Kind of room'),
    bed_type: enumerated('Kind of bed'),
    bathroom_type: enumerated('Kind of bathroom'),
    gender: enumerated('Gender that the room is let to'),
    application_url: address('Where guests apply'),
    room_size: number('Size of the room, in `room_size_unit`'),
    room_size_unit: enumerated('Unit of `room_size`'),
    max_occupancy: whole('How many people may live in it'),
    available_at: clearable('Earliest move-in date', date()),
    rooms: list('Its rooms, merged by id; rooms left out stay', Room),
    prices: Type.Optional(RoomTypePrices),
    amenities: references('What it offers'),
    photos: photos('Photos of the room type'),
  }),
)

const ExtraFee = named(
  'ExtraFeeWrite',
  Type.Object({
    name: string('Name of the fee'),
    description: longText('What the fee is for'),
    mandatory: flag('Whether every guest pays it'),
    type: enumerated('`percentage` or `percent` of the price of the stay; otherwise a fixed amount'),
    sum: clearable('The amount in major units, or the percentage', money()),
    frequency: enumerated(
      'How often it is due; `once`, `one_time` or `one_off` is charged with a booking. May be',
    ),
  }),
)

const Faq = named(
  'FrequentQuestionWrite',
  Type.Object({ question: string('The question'), answer: longText('The answer') }),
)

const fields = {
  original_id: string(
    'Your own id of the listing, unique within the host; decides which listing a create updates',
  ),
  original_url: address('Address of the listing on your side; recognizes it where ids are missing'),
  name: Type.Optional(requiredText(255, { description: 'Name of the listing' })),
  property_size: number('Size of the property, in `property_size_unit`'),
  property_size_unit: enumerated('Unit of `property_size`'),
  parking: string('Parking'),
  internet_download: number('Download speed in Mbit/s'),
  internet_upload: number('Upload speed in Mbit/s'),
  bedrooms: whole('Number of bedrooms'),
  bathrooms: whole('Number of bathrooms'),
  residents: whole('Number of residents'),
  descriptions: group('Texts for guests', {
    property: longText('About the property'),
    neighborhood: longText('About the neighbourhood'),
    community: longText('About the people who live there'),
  }),
  location: group('Where it is', {
    address: string('Street and number'),
    zip: string('Postal code'),
    neighborhood: string('Neighbourhood'),
    city: string('City'),
    state: string('State or region'),
    country: string('Country, as a name or code'),
    lat: clearable('Latitude in degrees', Type.Number({ minimum: -90, maximum: 90 })),
    lng: clearable('Longitude in degrees', Type.Number({ minimum: -180, maximum: 180 })),
  }),
  amenities: references('What the property offers'),
  prices: group('Prices of the whole listing', {
    currency: clearable('ISO currency code of all prices of the listing', text(64, { format: 'currency' })),
    security_deposit_type: enumerated('Kind of security deposit'),
    security_deposit: amount('Security deposit'),
    extra_fees: list('Fees beside the rent; replaced as a whole with each write', ExtraFee),
  }),
  room_types: list('Room types, merged by id; room types left out stay', RoomType),
  bookings: group('Rules for bookings', {
    stay_min: whole('Shortest stay in nights'),
    notice_min_days: whole('Notice before moving out, in days'),
    move_in_max_days: whole('How far ahead a guest may move in, in days'),
    application_url: address('Where guests apply'),
    cancellation_policy: enumerated('Cancellation policy'),
    booking_rules: longText('Rules for bookings in words'),
  }),
  community: group('The people who live there', {
    age_min: whole('Youngest age'),
    age_max: whole('Oldest age'),
    age_avg: whole('Average age'),
    gender: enumerated('Gender'),
    gender_ratio: number('Ratio of genders'),
    events: references('Events'),
    community_manager: group('Who looks after the residents', {
      name: string('Name'),
      photo: address('Address of a picture'),
      onsite: flag('Whether the manager is on site'),
    }),
    types: references('Kinds of community'),
  }),
  media: group('Pictures and tours', {
    '3d_tour': address('Address of a 3D tour'),
    video_tour: group('A video', {
      type: enumerated('Host of the video'),
      url: address('Address of the video'),
    }),
    photos: group('Photos', {
      property: photos('Photos of the property'),
      community: photos('Photos of the community'),
    }),
  }),
  instructions: group('What a guest needs on arrival and departure', {
    check_in_earliest: timeOfDay('Earliest check-in'),
    check_in_latest: timeOfDay('Latest check-in'),
    check_out_latest: timeOfDay('Latest check-out'),
    check_in_contact_person: string('Who receives the guest'),
    check_in_telephone_country: string('Country code of the telephone number'),
    check_in_telephone_number: string('Telephone number'),
    check_in_instructions: longText('How to get in'),
    directions: longText('How to get there'),
    house_manual: longText('How the house works'),
  }),
  faq: list('Frequently asked questions; replaced as a whole with each write', Faq),
  rating: group('Ratings elsewhere', { places_id: string('Id in an external directory of places') }),
}

/** Body of `PATCH /v1/listings/{id}`: any subset. */
export const ListingPatch = named('ListingPatch', requestObject(fields))
export type ListingPatch = Static<typeof ListingPatch>

/** Body of `POST /v1/listings`. */
export const ListingCreate = named(
  'ListingCreate',
  requestObject({ ...fields, name: requiredText(255, { description: 'Name of the listing' }) }),
)

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { Problem } from '../../core/errors.ts'
import {
  count,
  date,
  idInBody,
  money,
  optional,
  type Refinement,
  requestObject,
  requiredText,
  text,
  webAddress,
  withTitle,
  word,
} from '../../http/input/schema/fields.ts'
import { privateHostOf } from '../../platform/outgoing/address.ts'
import { readAddress } from '../calendars/address.ts'

/**
 * The fields of a listing, defined once for create and update bodies and for read responses. Every scalar may be null,
 * which clears it. An object or array may be omitted but must not be null. A response always contains every field
 * (decisions §5).
 */

/** Maximum number of elements in each of a listing's lists. */
export const maxList = 500

const clearable = <T extends TSchema>(about: string, schema: T) =>
  optional(schema, `${about}; null if not set`)
const string = (about: string, maxLength?: number) => clearable(about, text(maxLength))
const longText = (about: string) => string(about, 10_000)
const enumerated = (about: string) => clearable(`${about} (any word)`, word())
const address = (about: string) => clearable(`${about}; stored, never fetched`, webAddress())
const number = (about: string) => clearable(about, Type.Number({ minimum: 0, maximum: 1_000_000_000 }))
const amount = (about: string) => clearable(`${about}, in major units`, money())
const percent = (about: string) =>
  optional(Type.Number({ minimum: 0, maximum: 100 }), `${about}, in percent; 0 or null if not set`)
const whole = (about: string) => clearable(about, count())
const flag = (about: string) => clearable(`${about}: 1 for yes, 0 for no`, count(1))
const timeOfDay = (about: string) => clearable(`${about}, as HH:MM`, text(64, { format: 'time-of-day' }))
const list = <T extends TSchema>(about: string, item: T) =>
  Type.Optional(Type.Array(item, { maxItems: maxList, description: about }))
const group = <T extends Parameters<typeof Type.Object>[0]>(about: string, fields: T) =>
  Type.Optional(Type.Object(fields, { description: about }))

const Reference = withTitle(
  'ReferenceWrite',
  Type.Object({ id: idInBody("Id of the entry in the platform's own list") }),
)
const references = (about: string) =>
  list(`${about}; replaced as a whole by each write that includes this list`, Reference)
const Photo = withTitle(
  'PhotoWrite',
  Type.Object({ url: address('URL of the picture'), description: longText('Description of the picture') }),
)
const photos = (about: string) =>
  list(`${about}; replaced as a whole by each write that includes this list`, Photo)
/**
 * A name may be omitted. It may be null only if no name is stored, so that a listing can be sent back exactly as it was
 * read. `merge.ts` enforces this.
 */
const elementName = (what: string) =>
  optional(
    requiredText(255, { trims: true }),
    `Name of the ${what}, trimmed; must not be null once a name is stored`,
  )
/**
 * Our id as an integer, or the partner's own id as a string. `merge.ts` decides how to interpret a string of digits.
 */
const elementId = (what: string) =>
  optional(
    Type.Unsafe<number | string>(
      Type.Union([Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), text()], {
        respondsAs: 'id',
      }),
    ),
    `Id of the ${what}: our id as an integer or, on create, your own as a string; null or absent to add a new one`,
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

/** Returns the twelve monthly price fields, each created by `field` from the month's name. */
export function monthlyPrices<T extends TSchema>(
  field: (monthName: string) => T,
): Record<`price_${Month}`, T> {
  return Object.fromEntries(months.map((month) => [`price_${month}`, field(monthNames[month])])) as Record<
    `price_${Month}`,
    T
  >
}

const RoomTypePrices = withTitle(
  'RoomTypePricesWrite',
  Type.Object({
    base_price: optional(
      money({ belowMinimum: 'invalid' }),
      'Price for months that have no price of their own, in major units; null if not set',
    ),
    ...monthlyPrices((month) => amount(`Price for ${month}, replacing the base price`)),
    discount_90: percent('Discount for stays of 90 nights or more'),
    discount_180: percent(
      'Discount for stays of 180 nights or more, replacing the discount for shorter stays',
    ),
    discount_360: percent(
      'Discount for stays of 360 nights or more, replacing the discounts for shorter stays',
    ),
  }),
)

export const RoomWrite = withTitle(
  'RoomWrite',
  Type.Object({
    id: elementId('room'),
    name: elementName('room'),
    description: longText('Description of the room'),
    availability: group("External source of the room's availability", {
      ical: clearable(
        "Address (https or webcal) of an iCalendar file, which is read soon and then every 15 minutes; what it takes is not sold here (see the calendar's entry)",
        text(2048, { format: 'calendar-address' }),
      ),
    }),
  }),
)

/**
 * Describes a wish of the host that no booking is checked against, because partners also bring in stays that were agreed
 * elsewhere (decisions §5).
 */
function unchecked(description: string): string {
  return `${description}; stored and shown, but no booking is checked against it, so check it before you book`
}

export const RoomTypeWrite = withTitle(
  'RoomTypeWrite',
  Type.Object({
    id: elementId('room type'),
    name: elementName('room type'),
    room_type: enumerated('Kind of room'),
    bed_type: enumerated('Kind of bed'),
    bathroom_type: enumerated('Kind of bathroom'),
    gender: enumerated(unchecked('Gender of the guests to whom the room is let')),
    application_url: address('URL at which guests apply'),
    room_size: number('Size of the room, in `room_size_unit`'),
    room_size_unit: enumerated('Unit of `room_size`'),
    max_occupancy: whole(unchecked('Maximum number of occupants')),
    available_at: clearable(unchecked('Earliest move-in date'), date()),
    rooms: list('Rooms of the room type, merged by id; rooms that are left out are kept', RoomWrite),
    prices: Type.Optional(RoomTypePrices),
    amenities: references('Amenities of the room type'),
    photos: photos('Photos of the room type'),
  }),
)

const ExtraFee = withTitle(
  'ExtraFeeWrite',
  Type.Object({
    name: string('Name of the fee'),
    description: longText('Description of the fee'),
    mandatory: flag('Whether the fee is mandatory for every guest'),
    type: enumerated(
      'Type of the fee: `percentage` or `percent` for a share of the price of the stay, otherwise a fixed amount',
    ),
    sum: clearable('Amount in major units, or percentage', money()),
    frequency: enumerated(
      'Frequency of the fee: `once`, `one_time` or `one_off` for a fee charged with a booking',
    ),
  }),
)

const Faq = withTitle(
  'FrequentQuestionWrite',
  Type.Object({ question: string('The question'), answer: longText('The answer') }),
)

const listingName = requiredText(255, { trims: true, description: 'Name of the listing, trimmed' })

const fields = {
  original_id: string(
    'Your own id for the listing, unique within the host and compared exactly; determines which listing a create updates',
  ),
  original_url: address(
    'URL of the listing on your site; used to recognize the listing if it was sent or stored without an `original_id`; compared as a browser reads it',
  ),
  name: Type.Optional(listingName),
  property_size: number('Size of the property, in `property_size_unit`'),
  property_size_unit: enumerated('Unit of `property_size`'),
  parking: string('Parking'),
  internet_download: number('Internet download speed, in Mbit/s'),
  internet_upload: number('Internet upload speed, in Mbit/s'),
  bedrooms: whole('Number of bedrooms'),
  bathrooms: whole('Number of bathrooms'),
  residents: whole('Number of residents'),
  descriptions: group('Descriptions for guests', {
    property: longText('Description of the property'),
    neighborhood: longText('Description of the neighbourhood'),
    community: longText('Description of the residents'),
  }),
  location: group('Location of the listing', {
    address: string('Street and number'),
    zip: string('Postal code'),
    neighborhood: string('Neighbourhood'),
    city: string('City'),
    state: string('State or region'),
    country: string('Country, as a name or a code'),
    lat: clearable('Latitude, in degrees', Type.Number({ minimum: -90, maximum: 90 })),
    lng: clearable('Longitude, in degrees', Type.Number({ minimum: -180, maximum: 180 })),
  }),
  amenities: references('Amenities of the property'),
  prices: group('Prices that apply to the whole listing', {
    currency: clearable('ISO currency code of all prices in the listing', text(64, { format: 'currency' })),
    security_deposit_type: enumerated('Kind of security deposit'),
    security_deposit: amount('Security deposit'),
    extra_fees: list(
      'Fees in addition to the rent; replaced as a whole by each write that includes this list',
      ExtraFee,
    ),
  }),
  room_types: list('Room types, merged by id; room types that are left out are kept', RoomTypeWrite),
  bookings: group('Booking rules', {
    stay_min: whole(unchecked('Minimum length of a stay, in nights')),
    notice_min_days: whole(unchecked('Minimum notice before moving out, in days')),
    move_in_max_days: whole(unchecked('Maximum number of days ahead that a guest may move in')),
    application_url: address('URL at which guests apply'),
    cancellation_policy: enumerated('Cancellation policy'),
    booking_rules: longText('Booking rules in prose'),
  }),
  community: group('Residents of the property', {
    age_min: whole(unchecked('Minimum age of the residents')),
    age_max: whole(unchecked('Maximum age of the residents')),
    age_avg: whole('Average age of the residents'),
    gender: enumerated(unchecked('Gender of the residents')),
    gender_ratio: number('Gender ratio of the residents'),
    events: references('Events'),
    community_manager: group('Community manager', {
      name: string('Name'),
      photo: address('URL of a photo of the manager'),
      onsite: flag('Whether the manager is on site'),
    }),
    types: references('Kinds of community'),
  }),
  media: group('Pictures and tours', {
    '3d_tour': address('URL of a 3D tour'),
    video_tour: group('Video tour', {
      type: enumerated('Hosting service of the video'),
      url: address('URL of the video'),
    }),
    photos: group('Photos', {
      property: photos('Photos of the property'),
      community: photos('Photos of the community'),
    }),
  }),
  instructions: group('Instructions for arrival and departure', {
    check_in_earliest: timeOfDay('Earliest check-in time'),
    check_in_latest: timeOfDay('Latest check-in time'),
    check_out_latest: timeOfDay('Latest check-out time'),
    check_in_contact_person: string('Name of the person who receives the guest'),
    check_in_telephone_country: string('Country code of the check-in telephone number'),
    check_in_telephone_number: string('Check-in telephone number'),
    check_in_instructions: longText('Instructions for check-in'),
    directions: longText('Directions to the property'),
    house_manual: longText('House manual'),
  }),
  faq: list('Frequently asked questions; replaced as a whole by each write that includes this list', Faq),
  rating: group('External ratings', {
    places_id: string('Id of the listing in an external directory of places'),
  }),
}

/** Body of `PATCH /v1/listings/{id}`: any subset of the fields. */
export const listingPatch = (allowsPrivate: boolean) =>
  withTitle('ListingPatch', requestObject(fields, checkCalendars(allowsPrivate)))
export const ListingPatch = listingPatch(true)
export type ListingPatch = Static<typeof ListingPatch>

/** Body of `POST /v1/listings`. */
export const listingCreate = (allowsPrivate: boolean) =>
  withTitle('ListingCreate', requestObject({ ...fields, name: listingName }, checkCalendars(allowsPrivate)))
export const ListingCreate = listingCreate(true)

interface SentRoomTypes {
  room_types?: Static<typeof RoomTypeWrite>[]
}

/** Returns a check of the addresses of calendars, which must be public unless private ones are allowed (decisions §31). */
function checkCalendars(allowsPrivate: boolean): Refinement<SentRoomTypes> {
  return ({ room_types }, isValidAt) => {
    if (allowsPrivate || !Array.isArray(room_types) || room_types.length > maxList) return []
    const problems: Problem[] = []
    for (const [index, roomType] of room_types.entries()) {
      const rooms = Array.isArray(roomType?.rooms) ? roomType.rooms : []
      for (const [place, room] of rooms.entries()) {
        const path = `room_types.${index}.rooms.${place}.availability.ical`
        const sent = isValidAt(path) ? room?.availability?.ical : null
        const demand = sent?.trim() ? demandOf(sent) : null
        if (demand !== null) problems.push({ path, code: 'invalid', message: `"${path}" ${demand}` })
      }
    }
    return problems
  }
}

/** Returns what is wrong with an address that only a service on a private network may read; null if nothing is. */
function demandOf(address: string): string | null {
  const url = readAddress(address)
  if (url?.protocol !== 'https:') return 'must start with "https://" or "webcal://"'
  return privateHostOf(url) === null ? null : 'must be a public address'
}

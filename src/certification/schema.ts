import { type Static, Type } from '@sinclair/typebox'
import {
  date,
  idInBody,
  named,
  nullable,
  oneOf,
  optional,
  requestObject,
  responseObject,
  shown,
  text,
} from '../http/schema/fields.ts'
import { bookingStatus, type StatusWord } from '../stays/bookings/status.ts'
import { profiles } from './cases.ts'

const profile = oneOf(profiles, 'What the product does')

/** Body of `POST /sandbox/certifications`. */
export const CertificationStart = named(
  'CertificationStart',
  requestObject({
    profiles: Type.Array(profile, {
      minItems: 1,
      maxItems: profiles.length,
      description:
        'What the product is certified for; played in the order feed, inventory, bookings, webhooks',
    }),
    seed: optional(text(64), 'Decides what is played: the same course for the same seed; null for any'),
  }),
)

/** Maximum number of bookings in an uploaded state. */
const maxBookings = 10_000

/** Body of `PUT /sandbox/certifications/{id}/state`. */
export const CertificationState = named(
  'CertificationState',
  requestObject({
    bookings: Type.Array(
      Type.Object(
        {
          booking_id: idInBody('Id of the booking'),
          status: oneOf(Object.keys(bookingStatus) as StatusWord[], 'Its status'),
          checkin_at: date({ whenBlank: 'required', description: 'First night' }),
          checkout_at: date({ whenBlank: 'required', description: 'Day of departure' }),
        },
        { additionalProperties: true },
      ),
      { maxItems: maxBookings, description: 'What the product holds' },
    ),
  }),
)
export type CertificationState = Static<typeof CertificationState>

const idOrNull = (description: string) => nullable(shown.integer(description, 'id'), { description })
const dateOrNull = (description: string) => nullable(shown.date(description), { description })
const place = {
  listing_id: shown.integer('Id of the listing', 'id'),
  room_type_id: shown.integer('Id of the room type', 'id'),
}

const NextAction = named(
  'CertificationNext',
  responseObject({
    action: shown.word(
      'What is to be done',
      ...(['start', 'stop', 'wait', 'push_all', 'push_change', 'book', 'cancel', 'upload_state'] as const),
    ),
    text: shown.text('The same in words'),
    booking_id: idOrNull('Of `cancel`: the booking'),
    user_id: idOrNull('Of `book`: a user who can be the guest'),
    listing_id: idOrNull('Of `push_change` and `book`: the listing'),
    room_type_id: idOrNull('Of `push_change` and `book`: the room type'),
    room_types: nullable(shown.list('Of `push_all`: the room types', responseObject(place)), {
      description: 'Of `push_all`: the room types',
    }),
    checkin_at: dateOrNull('Of `book`: the first night'),
    checkout_at: dateOrNull('Of `book`: the day of departure'),
    start_date: dateOrNull('Of `push_all` and `push_change`: the first night'),
    end_date: dateOrNull('Of `push_all` and `push_change`: the last night, included'),
    available: nullable(shown.integer('Of `push_change`: the units'), {
      description: 'Of `push_change`: the units',
    }),
  }),
)

/** A certification with the state of its cases. */
export const CertificationView = named(
  'Certification',
  responseObject({
    id: shown.integer('Id of the certification', 'id'),
    status: shown.word('Whether it was passed', ...(['running', 'passed', 'failed', 'expired'] as const)),
    profiles: shown.list('What the product is certified for', profile),
    seed: shown.text('Decides what is played'),
    started_at: shown.timestamp('When it was started'),
    ended_at: shown.timestampOrNull('When it ended; null while it runs'),
    next: nullable(NextAction, { description: 'What is to be done now; null when it has ended' }),
    cases: shown.list(
      'What the product is graded by',
      named(
        'CertificationCase',
        responseObject({
          name: shown.text('The case'),
          profile,
          rule: shown.text('What a product does to pass it'),
          status: shown.word('How it stands', ...(['waiting', 'passed', 'failed', 'skipped'] as const)),
          because: shown.textOrNull('Why it failed or was skipped'),
          request_ids: shown.list('Requests that tell', Type.String({ description: 'Id of a request' })),
          guide: shown.text('Where the guide tells of it'),
        }),
      ),
    ),
  }),
)
export type CertificationView = Static<typeof CertificationView>

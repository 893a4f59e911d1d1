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

const profile = oneOf(profiles, 'Profile that a product can be certified for')

/** Body of `POST /sandbox/certifications`. */
export const CertificationStart = named(
  'CertificationStart',
  requestObject({
    profiles: Type.Array(profile, {
      minItems: 1,
      maxItems: profiles.length,
      description:
        'Profiles that the product is certified for; played in the order feed, inventory, bookings, webhooks',
    }),
    seed: optional(
      text(64),
      'Seed that determines the course; the same seed gives the same course, null a random seed',
    ),
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
          status: oneOf(Object.keys(bookingStatus) as StatusWord[], 'Status of the booking'),
          checkin_at: date({ whenBlank: 'required', description: 'First night' }),
          checkout_at: date({ whenBlank: 'required', description: 'Day of departure' }),
        },
        { additionalProperties: true },
      ),
      { maxItems: maxBookings, description: 'Bookings that the product holds' },
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
      'Action to take',
      ...(['start', 'stop', 'wait', 'push_all', 'push_change', 'book', 'cancel', 'upload_state'] as const),
    ),
    text: shown.text('Action in words'),
    booking_id: idOrNull('Id of the booking to cancel, for `cancel`; null for other actions'),
    user_id: idOrNull('Id of a user who can be the guest, for `book`; null for other actions'),
    listing_id: idOrNull('Id of the listing, for `push_change` and `book`; null for other actions'),
    room_type_id: idOrNull('Id of the room type, for `push_change` and `book`; null for other actions'),
    room_types: nullable(
      shown.list('Room types to push, for `push_all`; null for other actions', responseObject(place)),
      {
        description: 'Room types to push, for `push_all`; null for other actions',
      },
    ),
    checkin_at: dateOrNull('First night of the stay, for `book`; null for other actions'),
    checkout_at: dateOrNull('Day of departure, for `book`; null for other actions'),
    start_date: dateOrNull('First night to push, for `push_all` and `push_change`; null for other actions'),
    end_date: dateOrNull(
      'Last night to push, inclusive, for `push_all` and `push_change`; null for other actions',
    ),
    available: nullable(
      shown.integer('Number of units per night to push, for `push_change`; null for other actions'),
      {
        description: 'Number of units per night to push, for `push_change`; null for other actions',
      },
    ),
  }),
)

/** A certification with the state of its cases. */
export const CertificationView = named(
  'Certification',
  responseObject({
    id: shown.integer('Id of the certification', 'id'),
    status: shown.word(
      'Status of the certification',
      ...(['running', 'passed', 'failed', 'expired'] as const),
    ),
    profiles: shown.list('Profiles that the product is certified for', profile),
    seed: shown.text('Decides what is played'),
    started_at: shown.timestamp('Time at which the certification started'),
    ended_at: shown.timestampOrNull('Time at which the certification ended; null while it is running'),
    next: nullable(NextAction, {
      description: 'Next action; null until the sandbox is filled and once the certification has ended',
    }),
    cases: shown.list(
      'Cases that the product is graded by',
      named(
        'CertificationCase',
        responseObject({
          name: shown.text('Name of the case'),
          profile,
          rule: shown.text('Requirement for passing the case'),
          status: shown.word('Status of the case', ...(['waiting', 'passed', 'failed', 'skipped'] as const)),
          because: shown.textOrNull('Reason that the case failed or was skipped; null otherwise'),
          request_ids: shown.list(
            'Requests that prove the failure; empty unless the case failed',
            Type.String({ description: 'Id of a request' }),
          ),
          guide: shown.text('Link to the description of the cases in the guide'),
        }),
      ),
    ),
  }),
)
export type CertificationView = Static<typeof CertificationView>

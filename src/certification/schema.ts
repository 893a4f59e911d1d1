import { type Static, type TSchema, Type } from '@sinclair/typebox'
import {
  date,
  idInBody,
  nullable,
  oneOf,
  optional,
  output,
  requestObject,
  responseObject,
  text,
  withTitle,
} from '../http/input/schema/fields.ts'
import { bookingStatus, type StatusWord } from '../stays/bookings/status.ts'
import { profiles } from './course/cases.ts'

const profile = oneOf(profiles, 'Profile that a product can be certified for')

/** Body of `POST /sandbox/certifications`. */
export const CertificationStart = withTitle(
  'CertificationStart',
  requestObject({
    profiles: Type.Array(profile, {
      minItems: 1,
      maxItems: profiles.length,
      uniqueItems: true,
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
export const CertificationState = withTitle(
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

const place = {
  listing_id: output.integer('Id of the listing', 'id'),
  room_type_id: output.integer('Id of the room type', 'id'),
}

/** Returns the schema of a property that only some actions have. */
function only<T extends TSchema>(actions: string, description: string, make: (description: string) => T) {
  const full = `${description}, for ${actions}; null for other actions`
  return nullable(make(full), { description: full })
}
const id = (description: string) => output.integer(description, 'id')

const NextAction = withTitle(
  'CertificationNext',
  responseObject({
    action: output.literal(
      'Action to take',
      'start',
      'stop',
      'wait',
      'push_all',
      'push_change',
      'book',
      'cancel',
      'upload_state',
    ),
    text: output.text('Action in words'),
    booking_id: only('`cancel`', 'Id of the booking to cancel', id),
    user_id: only('`book`', 'Id of a user who can be the guest', id),
    listing_id: only('`push_change` and `book`', 'Id of the listing', id),
    room_type_id: only('`push_change` and `book`', 'Id of the room type', id),
    room_types: only('`push_all`', 'Room types to push', (text) => output.list(text, responseObject(place))),
    checkin_at: only('`book`', 'First night of the stay', output.date),
    checkout_at: only('`book`', 'Day of departure', output.date),
    start_date: only('`push_all` and `push_change`', 'First night to push', output.date),
    end_date: only('`push_all` and `push_change`', 'Last night to push, inclusive', output.date),
    available: only('`push_change`', 'Number of units per night to push', (text) => output.integer(text)),
    as_of: nullable(output.text('Version up to which the units were counted', 'version'), {
      description:
        'Version up to which the units to push were counted, to be sent along; null for other actions, and if they are pushed at once',
    }),
  }),
)

const ProgressView = withTitle(
  'CertificationProgress',
  responseObject({
    last_request_at: output.timestampOrNull("Time of the product's last request; null if there is none"),
    last_operation: output.textOrNull(
      "Method and route of the product's last request; null if there is none",
    ),
    missing_count: output.integer('Number of bookings that the product has yet to read', 'count'),
    missing_booking_ids: output.list(
      'Ids of the first five missing bookings',
      Type.Integer({ description: 'Id of a booking' }),
    ),
  }),
)

/** A certification with the state of its cases. */
export const CertificationView = withTitle(
  'Certification',
  responseObject({
    id: output.integer('Id of the certification', 'id'),
    status: output.literal('Status of the certification', 'running', 'passed', 'failed', 'expired'),
    profiles: output.list('Profiles that the product is certified for', profile),
    seed: output.text('Seed that determines the course'),
    started_at: output.timestamp('Time at which the certification started'),
    ended_at: output.timestampOrNull('Time at which the certification ended; null while it is running'),
    next: nullable(NextAction, {
      description: 'Next action; null until the sandbox is filled and once the certification has ended',
    }),
    progress: nullable(ProgressView, {
      description:
        'Last request of the product and the bookings that it has yet to read; null unless a running certification is read',
    }),
    cases: output.list(
      'Cases that the product is graded by',
      withTitle(
        'CertificationCase',
        responseObject({
          name: output.text('Name of the case'),
          profile,
          rule: output.text('Requirement for passing the case'),
          status: output.literal('Status of the case', 'waiting', 'passed', 'failed', 'skipped'),
          because: output.textOrNull('Reason that the case failed or was skipped; null otherwise'),
          request_ids: output.list(
            'Requests that prove the failure; empty unless the case failed',
            Type.String({ description: 'Id of a request' }),
          ),
          guide: output.text('Link to the description of the cases in the guide'),
        }),
      ),
    ),
  }),
)
export type CertificationView = Static<typeof CertificationView>

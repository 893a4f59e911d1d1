import { type Static, Type } from '@sinclair/typebox'
import {
  date,
  nullable,
  optional,
  optionalIdInBody,
  output,
  requestObject,
  responseObject,
  withTitle,
} from '../../http/input/schema/fields.ts'
import { bookingFields } from '../../stays/bookings/schema.ts'

/** Maximum `count` of a scenario. */
const maxCount = 500

/** Body of `POST /sandbox/scenarios/{name}`. A scenario ignores parameters that it does not take. */
export const ScenarioParameters = withTitle(
  'SandboxScenarioParameters',
  requestObject({
    listing_id: optionalIdInBody(
      'Id of the listing in which the scenario plays; null for the first listing with units left',
    ),
    booking_id: optionalIdInBody(
      'Id of the booking that the scenario is about; null for the newest suitable booking',
    ),
    count: optional(
      Type.Integer({ minimum: 1, maximum: maxCount }),
      'Number of guests, messages, or stays of each status, depending on the scenario; null for 1',
    ),
    checkin_at: optional(
      date(),
      'First night of the stays, which last 30 nights each; null for 30 days from today',
    ),
  }),
)
export type ScenarioParameters = Static<typeof ScenarioParameters>
export type ParameterName = keyof ScenarioParameters

export const ScenarioView = withTitle(
  'SandboxScenario',
  responseObject({
    name: output.text('Name of the scenario'),
    summary: output.text('Event that the scenario plays, and the integration mistake that it reveals'),
    parameters: output.list(
      'Parameters that the scenario takes',
      Type.String({ description: 'Name of a parameter' }),
    ),
  }),
)

/** The outcome of a played scenario. */
export const Played = withTitle(
  'SandboxScenarioPlayed',
  responseObject({
    scenario: output.text('Name of the scenario that was played'),
    bookings: output.list(
      'Bookings that the scenario made or changed, in order',
      responseObject({ booking_id: bookingFields.booking_id, status: bookingFields.status_word }),
    ),
    messages: output.list(
      'Messages that guests wrote, in order',
      responseObject({ id: output.integer('Id of the message', 'id'), booking_id: bookingFields.booking_id }),
    ),
    listing_id: nullable(bookingFields.listing_id, {
      description: 'Id of the listing in which the scenario played; null for several',
    }),
    room_type_id: nullable(bookingFields.room_type_id, {
      description: 'Id of the room type in which the scenario played; null for several',
    }),
    nights: output.list(
      'Nights that had one unit left',
      Type.String({ description: 'Night, given as the day on which it begins', form: 'date' }),
    ),
  }),
)
export type Played = Static<typeof Played>

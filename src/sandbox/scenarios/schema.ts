import { type Static, Type } from '@sinclair/typebox'
import {
  date,
  idInBody,
  named,
  nullable,
  optional,
  requestObject,
  responseObject,
  shown,
} from '../../http/schema/fields.ts'
import { bookingFields } from '../../stays/bookings/schema.ts'

/** Maximum `count` of a scenario. */
const maxCount = 500

/** Body of `POST /sandbox/scenarios/{name}`. A scenario ignores parameters that it does not take. */
export const ScenarioParameters = named(
  'SandboxScenarioParameters',
  requestObject({
    listing_id: optional(idInBody(), 'Where it plays; null for the first listing with units left'),
    booking_id: optional(idInBody(), 'The booking that it is about; null for the newest that fits'),
    count: optional(Type.Integer({ minimum: 1, maximum: maxCount }), 'How many; 1 for null'),
    checkin_at: optional(date(), 'First night of its stays, of 30 nights each; null for today in 30 days'),
  }),
)
export type ScenarioParameters = Static<typeof ScenarioParameters>
export type ParameterName = keyof ScenarioParameters

export const ScenarioView = named(
  'SandboxScenario',
  responseObject({
    name: shown.text('What it is called'),
    summary: shown.text('What happens, and which mistake of an integration it finds'),
    parameters: shown.list('What it takes', Type.String({ description: 'Name of a parameter' })),
  }),
)

/** The outcome of a played scenario. */
export const Played = named(
  'SandboxScenarioPlayed',
  responseObject({
    scenario: shown.text('The scenario that was played'),
    bookings: shown.list(
      'The bookings that it made or changed, in order',
      responseObject({ booking_id: bookingFields.booking_id, status: bookingFields.status_word }),
    ),
    messages: shown.list(
      'The messages that guests wrote, in order',
      responseObject({ id: shown.integer('Id of the message', 'id'), booking_id: bookingFields.booking_id }),
    ),
    listing_id: nullable(bookingFields.listing_id, { description: 'Where it played; null for several' }),
    room_type_id: nullable(bookingFields.room_type_id, { description: 'The same of the room type' }),
    nights: shown.list(
      'The nights of which one unit was left',
      Type.String({ description: 'The night, by its first day', form: 'date' }),
    ),
  }),
)
export type Played = Static<typeof Played>

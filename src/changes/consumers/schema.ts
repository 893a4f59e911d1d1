import { type Static, Type } from '@sinclair/typebox'
import { named, nullable, requestObject, responseObject, shown, text } from '../../http/schema/fields.ts'

/** Body of `PUT …/consumers/{name}`. */
export const ConsumerWrite = named(
  'ConsumerWrite',
  requestObject({
    acknowledged: nullable(text(19, { format: 'version', whenBlank: 'invalid' }), {
      description: 'Version of the last change that was handled; null for the beginning',
    }),
    seek: Type.Optional(
      Type.Boolean({ description: 'True to go back: otherwise a lower version changes nothing' }),
    ),
  }),
)
export type ConsumerWrite = Static<typeof ConsumerWrite>

/** A consumer as its key sees it (decisions §19). */
export const ConsumerView = named(
  'Consumer',
  responseObject({
    name: shown.text('Name of the consumer'),
    acknowledged: shown.textOrNull(
      'Version of the last change that was acknowledged; null for none',
      'version',
    ),
    acknowledged_at: shown.timestampOrNull('When it was acknowledged; null for never'),
    pending: shown.integer('Changes after it, over the whole feed; 10000 for that many or more', 'count'),
    oldest_pending_at: shown.timestampOrNull('Version of the oldest of them as a timestamp; null for none'),
  }),
)
export type ConsumerView = Static<typeof ConsumerView>

/** The feeds that consumers can follow. */
export const consumedFeeds = ['bookings', 'messages'] as const
export type ConsumedFeed = (typeof consumedFeeds)[number]

import { type Static, Type } from '@sinclair/typebox'
import {
  nullable,
  output,
  requestObject,
  responseObject,
  text,
  withTitle,
} from '../../http/input/schema/fields.ts'

/** Body of `PUT …/consumers/{name}`. */
export const ConsumerWrite = withTitle(
  'ConsumerWrite',
  requestObject({
    acknowledged: nullable(text(19, { format: 'version', whenBlank: 'invalid' }), {
      description: 'Version of the last change you have handled; null for the beginning of the feed',
    }),
    seek: Type.Optional(
      Type.Boolean({ description: 'True to allow moving back; otherwise a lower version changes nothing' }),
    ),
  }),
)
export type ConsumerWrite = Static<typeof ConsumerWrite>

/** A consumer, as partners see it (decisions §19). */
export const ConsumerView = withTitle(
  'Consumer',
  responseObject({
    name: output.text('Name of the consumer'),
    acknowledged: output.textOrNull(
      'Version of the last acknowledged change; null if there is none',
      'version',
    ),
    acknowledged_at: output.timestampOrNull(
      'Time at which this version was acknowledged; null if there is none',
    ),
    pending: output.integer(
      'Number of changes in the whole feed after this version; 10000 means that many or more',
      'count',
    ),
    oldest_pending_at: output.timestampOrNull(
      'Version of the oldest pending change, as a timestamp; null if there is none',
    ),
  }),
)
export type ConsumerView = Static<typeof ConsumerView>

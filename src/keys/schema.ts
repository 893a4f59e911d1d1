import { type Static, Type } from '@sinclair/typebox'
import { nullable, responseObject } from '../schema/fields.ts'

/** Response of `GET /v1/key` (decisions §18). */
export const KeyView = responseObject({
  id: Type.Integer(),
  name: Type.String(),
  host: responseObject({ name: Type.String(), email: Type.String() }),
  permissions: Type.Array(Type.String()),
  status: Type.String(),
  expires_at: nullable(Type.String()),
  previous_expires_at: nullable(Type.String()),
  rate_limit: responseObject({
    limit: Type.Integer(),
    remaining: Type.Integer(),
    window_seconds: Type.Integer(),
  }),
  usage: responseObject({ count: Type.Integer(), last_used_at: nullable(Type.String()) }),
})
export type KeyView = Static<typeof KeyView>

import { Type } from '@sinclair/typebox'
import { answerObject, nullable } from '../schema/types.ts'

/** Answer of `GET /v1/key` (decisions §18). */
export const KeyView = answerObject({
  id: Type.Integer(),
  name: Type.String(),
  host: answerObject({ name: Type.String(), email: Type.String() }),
  permissions: Type.Array(Type.String()),
  status: Type.String(),
  expires_at: nullable(Type.String()),
  previous_expires_at: nullable(Type.String()),
  rate_limit: answerObject({
    limit: Type.Integer(),
    remaining: Type.Integer(),
    window_seconds: Type.Integer(),
  }),
  usage: answerObject({ count: Type.Integer(), last_used_at: nullable(Type.String()) }),
})

import { Type } from '@sinclair/typebox'
import { answerObject } from '../schema/types.ts'

/** Answer of `GET /v1/me` (contract, Host profile). */
export const HostProfile = answerObject({
  name: Type.String(),
  email: Type.String(),
  created_at: Type.String(),
  last_login_at: Type.String(),
})

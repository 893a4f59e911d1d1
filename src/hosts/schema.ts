import { Type } from '@sinclair/typebox'
import { responseObject } from '../schema/fields.ts'

/** Response of `GET /v1/me` (contract, Host profile). */
export const HostProfile = responseObject({
  name: Type.String(),
  email: Type.String(),
  created_at: Type.String(),
  last_login_at: Type.String(),
})

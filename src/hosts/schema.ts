import { Type } from '@sinclair/typebox'

/** Answer of `GET /v1/me` (contract, Host profile). */
export const HostProfile = Type.Object({
  name: Type.String(),
  email: Type.String(),
  created_at: Type.String(),
  last_login_at: Type.String(),
})

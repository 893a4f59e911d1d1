import { named, responseObject, shown } from '../../http/schema/fields.ts'

/** Response of `GET /v1/me` (contract, Host profile). */
export const HostProfile = named(
  'HostProfile',
  responseObject({
    name: shown.text('Name of the host account'),
    email: shown.text('E-mail address of the host account', 'email'),
    created_at: shown.timestamp('When the host account was created'),
    last_login_at: shown.timestamp(
      'When the host last logged in; equal to `created_at` before the first login',
    ),
  }),
)

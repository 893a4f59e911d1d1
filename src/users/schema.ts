import { type Static, Type } from '@sinclair/typebox'
import { systemClock, toDay } from '../clock.ts'
import { date, optional, requestObject, requiredText, responseObject, text, word } from '../schema/fields.ts'

/** Body of `POST /v1/users` (contract, User; decisions §4). */
export const UserCreate = requestObject(
  {
    email: requiredText(255, { format: 'email', trims: true }),
    password: optional(text(128, { minLength: 8, whenBlank: 'min' })),
    first_name: requiredText(),
    last_name: requiredText(),
    phone: optional(text()),
    date_of_birth: optional(date()),
    gender: optional(word()),
    country: optional(text()),
    city: optional(text()),
    timezone: optional(text(64, { format: 'timezone' })),
    language: optional(text(64, { format: 'language' })),
  },
  ({ date_of_birth }, isValidAt) =>
    isValidAt('date_of_birth') && date_of_birth?.trim() && date_of_birth >= toDay(systemClock())
      ? [{ path: 'date_of_birth', code: 'invalid', message: '"date_of_birth" must lie in the past' }]
      : [],
)
export type UserCreate = Static<typeof UserCreate>

const string = Type.String()
const stringOrNull = Type.Union([Type.String(), Type.Null()])

/** A user as the contract writes it. */
export const User = responseObject({
  user_id: Type.Integer(),
  name: string,
  email: string,
  first_name: string,
  last_name: string,
  phone: stringOrNull,
  date_of_birth: stringOrNull,
  gender: stringOrNull,
  country: stringOrNull,
  city: stringOrNull,
  timezone: string,
  language: string,
  status: Type.Integer(),
  role_name: string,
  lifecycle: string,
  email_verified_at: stringOrNull,
  login_at: string,
  login_amount: Type.Integer(),
  login_ip: string,
  source: string,
  api_created: Type.Boolean(),
  created_at: string,
  updated_at: string,
})
export type User = Static<typeof User>

import { type Static, Type } from '@sinclair/typebox'
import { isCalendarDate, toDay } from '../../core/clock.ts'
import type { Problem } from '../../core/errors.ts'
import {
  date,
  optional,
  output,
  type Refinement,
  requestObject,
  requiredText,
  responseObject,
  text,
  withTitle,
  word,
} from '../../http/input/schema/fields.ts'
import type { Unchecked } from '../../http/request.ts'

/** Field descriptions shared by the request and the response. */
const about = {
  email: "E-mail address, trimmed and in lower case; unique among the host's users",
  first_name: 'First name; title-cased if it is all upper case or all lower case',
  last_name:
    'Last name; title-cased if it is all upper case or all lower case; empty for a guest with one name',
  phone: 'Telephone number as written by the guest; null if unknown',
  date_of_birth: 'Date of birth; must be in the past; null if unknown',
  gender: 'Gender (any word); null if unknown',
  country:
    'Country, as a name in any language, a two-letter code, or a three-letter code in upper case; kept as sent; null if unknown',
  city: 'City; null if unknown',
  timezone: 'IANA time zone in its canonical spelling; `UTC` if null or absent',
  language:
    'Short language code in its canonical spelling; `en` if null or absent; if sent, it decides what a country name means that two countries share',
}

/** Body of `POST /v1/users` (contract, User; decisions §4). */
export const UserCreate = withTitle(
  'UserCreate',
  requestObject({
    email: requiredText(255, { format: 'email', trims: true, description: about.email }),
    password: optional(
      text(128, { minLength: 8, whenBlank: 'min' }),
      'Password of the account, 8 to 128 characters; never shown again; null for an account without a password',
    ),
    first_name: requiredText(255, { description: about.first_name }),
    last_name: optional(text(), about.last_name),
    phone: optional(text(), about.phone),
    date_of_birth: optional(date(), about.date_of_birth),
    gender: optional(word(), about.gender),
    country: optional(text(), about.country),
    city: optional(text(), about.city),
    timezone: optional(text(64, { format: 'timezone' }), about.timezone),
    language: optional(text(64, { format: 'language' }), about.language),
  }),
)
export type UserCreate = Static<typeof UserCreate>

/** Query parameters of `GET /v1/users`, except the paging parameters. */
export const userFilters = {
  email: Type.Optional(
    text(255, {
      whenBlank: 'invalid',
      description: 'Only the user with this e-mail address, case-insensitive',
      example: 'ada@example.com',
    }),
  ),
  erased_after: Type.Optional(
    text(40, {
      format: 'moment',
      whenBlank: 'invalid',
      description:
        'Only users who were erased after this time, ordered by it: a timestamp as responses show it, such as the last `erased_at` that you have read. A user is among them from the first step of the erasure on, in the erased form',
      example: '2026-01-31T12:00:00.000000Z',
    }),
  ),
}

/**
 * Reports an e-mail address in a query that no user can have. In a query, a `+` that is not written as `%2B` means a
 * space, so such a search would find nobody, and the client would create the user again.
 */
export const emailFilterProblems: Refinement<{ email?: string }> = ({ email }, isValidAt) => {
  if (email === undefined || !isValidAt('email')) return []
  const hasBlank = /\s/.test(email)
  if (email.includes('@') && !hasBlank) return []
  const hint = hasBlank ? ' without spaces; write "+" as "%2B"' : ''
  return [{ path: 'email', code: 'invalid', message: `"email" must be an e-mail address${hint}` }]
}

/** Reports a date of birth that is today or later according to the environment's clock. */
export function birthProblems({ body: { date_of_birth }, now }: Unchecked): Problem[] {
  if (typeof date_of_birth !== 'string' || !isCalendarDate(date_of_birth)) return []
  if (date_of_birth < toDay(now)) return []
  return [{ path: 'date_of_birth', code: 'invalid', message: '"date_of_birth" must be in the past' }]
}

/** A user, as specified in the contract. */
export const User = withTitle(
  'User',
  responseObject({
    user_id: output.integer('Id of the user', 'id'),
    name: output.text('Formatted first and last name; only the first name if there is no last name'),
    email: output.text(about.email, 'email'),
    first_name: output.text(about.first_name),
    last_name: output.text(about.last_name),
    phone: output.textOrNull(about.phone),
    date_of_birth: output.textOrNull(about.date_of_birth, 'date'),
    gender: output.textOrNull(about.gender),
    country: output.textOrNull(about.country),
    city: output.textOrNull(about.city),
    timezone: output.text(about.timezone),
    language: output.text(about.language),
    status: output.integer('Status of the account: 1 for active', 'id'),
    role_name: output.literal('Role of the account', 'user'),
    lifecycle: output.literal('Lifecycle of the account', 'subscriber'),
    email_verified_at: output.timestampOrNull(
      'Time at which the e-mail address was verified; null if it has not been verified',
    ),
    login_at: output.timestamp('Time of the last login; time of creation if there has been no login'),
    login_amount: output.integer('Number of logins; 1 on creation', 'count'),
    login_ip: output.text('IP address of the client that created the account'),
    source: output.literal('Source of the account', 'api'),
    api_created: output.boolean('Whether the account was created through this API'),
    created_at: output.timestamp('Time at which the account was created'),
    updated_at: output.timestamp('Time at which the account was last changed'),
  }),
)
export type User = Static<typeof User>

/** A user in a read response (decisions §27). */
export const UserInFull = withTitle(
  'UserInFull',
  responseObject({
    ...User.properties,
    erased_at: output.timestampOrNull('Time at which the personal data was erased; null if it was not'),
  }),
)
export type UserInFull = Static<typeof UserInFull>

import { toTimestamp, toTimestampOrNull } from '../../core/clock.ts'
import type { StoredUser } from './model.ts'
import type { User, UserInFull } from './schema.ts'

/** Serializes a user as specified in the contract. */
export function serializeUser(user: StoredUser): User {
  return {
    user_id: user.id,
    name: user.name,
    email: user.email,
    first_name: user.first_name,
    last_name: user.last_name,
    phone: user.phone,
    date_of_birth: user.date_of_birth,
    gender: user.gender,
    country: user.country,
    city: user.city,
    timezone: user.timezone,
    language: user.language ?? 'en',
    status: 1,
    role_name: 'user',
    lifecycle: 'subscriber',
    email_verified_at: null,
    login_at: toTimestamp(user.created_at),
    login_amount: 1,
    login_ip: user.login_ip,
    source: 'api',
    api_created: true,
    created_at: toTimestamp(user.created_at),
    updated_at: toTimestamp(user.updated_at),
  }
}

/** Serializes a user for a read response. */
export function serializeUserInFull(user: StoredUser): UserInFull {
  return { ...serializeUser(user), erased_at: toTimestampOrNull(user.erased_at) }
}

/**
 * Formats a person's name as web registration does (decisions §4): trims it, collapses whitespace, and title-cases it
 * if it is all lower case or all upper case.
 *
 * @example formatName("  o'BRIEN ") // "o'BRIEN", because mixed case is assumed to be deliberate
 * @example formatName("O'BRIEN") // "O'Brien"
 */
export function formatName(name: string): string {
  const collapsed = name.trim().replace(/\s+/g, ' ')
  const isOneCase = collapsed === collapsed.toLowerCase() || collapsed === collapsed.toUpperCase()
  return isOneCase ? titleCase(collapsed) : collapsed
}

function titleCase(name: string): string {
  return name
    .toLowerCase()
    .replace(/(^|[\s\-'’.])(\p{Ll})/gu, (_, before: string, letter: string) => before + titleLetter(letter))
}

/** The letters with a title case of their own, such as `ǅ` for `ǆ`, whose upper case is `Ǆ`. */
const titleLetters = new Map(
  Array.from('ǅǈǋǲᾈᾉᾊᾋᾌᾍᾎᾏᾘᾙᾚᾛᾜᾝᾞᾟᾨᾩᾪᾫᾬᾭᾮᾯᾼῌῼ', (letter) => [letter.toLowerCase(), letter]),
)
/** Matches a Georgian capital letter. Georgian names have none, unless all of their letters are capital. */
const georgianCapital = /[\u{1c90}-\u{1cbf}]/u

/**
 * Returns a lower-case letter in title case, or as it is if its title case would be several code points (`ß`, `ﬁ`, `ŉ`,
 * `ǰ`).
 */
function titleLetter(letter: string): string {
  const title = titleLetters.get(letter) ?? letter.toUpperCase()
  const isOneLetter = Array.from(title).length === 1
  return isOneLetter && !georgianCapital.test(title) ? title : letter
}

import { canonicalEmail } from '../../core/email.ts'
import type { StoredUser } from './model.ts'

/** Domain of erased guests' e-mail addresses. No other user may have an address in this domain. */
const erasedDomain = 'erased.invalid'

/** Returns true if an address is in the domain reserved for erased guests. */
export function isErasedAddress(email: string): boolean {
  return canonicalEmail(email)?.endsWith(`@${erasedDomain}`) ?? false
}

/** Returns the id in an erased guest's address, in any spelling, or null if the address is nobody's after an erasure. */
export function erasedUserId(email: string): number | null {
  const [, id] = /^erased-([1-9]\d{0,14})@(.*)$/.exec(canonicalEmail(email) ?? '') ?? []
  return id !== undefined && isErasedAddress(email) ? Number(id) : null
}

/** Name given to an erased guest, also shown as the sender of their messages. */
export const erasedName = 'Erased guest'

/** Returns the values that replace an erased guest's personal data (decisions §26). */
export function erasedPerson(id: number) {
  return {
    email: `erased-${id}@${erasedDomain}`,
    name: erasedName,
    first_name: 'Erased',
    last_name: 'guest',
    phone: null,
    date_of_birth: null,
    gender: null,
    country: null,
    city: null,
    timezone: 'UTC',
    language: 'en',
    login_ip: '0.0.0.0',
  } satisfies Partial<StoredUser>
}

import type { StoredUser } from './model.ts'

/** Nobody else may have an address there. */
const erasedDomain = 'erased.invalid'

/** True for an address of the domain that belongs to erased guests. */
export function isErasedAddress(email: string): boolean {
  return email.toLowerCase().endsWith(`@${erasedDomain}`)
}

/** What an erased guest is called, also as the sender of messages. */
export const erasedName = 'Erased guest'

/** What is stored of the person of an erased guest, in place of what was (decisions §26). */
export function erasedPerson(id: number) {
  return {
    ...{ name: erasedName, first_name: 'Erased', last_name: 'guest', email: `erased-${id}@${erasedDomain}` },
    ...{ phone: null, date_of_birth: null, gender: null, country: null, city: null },
    ...{ timezone: 'UTC', language: 'en', login_ip: '0.0.0.0' },
  } satisfies Partial<StoredUser>
}

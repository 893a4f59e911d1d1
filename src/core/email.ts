import { domainToASCII } from 'node:url'

/**
 * E-mail addresses (decisions §4). One mailbox has several spellings: its domain in Unicode or in punycode, its letters
 * composed or decomposed. If only identical spellings counted as equal, a host could have two users with one mailbox,
 * and an administrator who erases a guest would miss the second one.
 */

/** Matches a local part in canonical form. */
const localPart = /^[^\s@<>()[\]\\,;:"]{1,64}$/u
/** Matches an ASCII character that no domain contains. Some of them would end a URL's host, or change it. */
const notInDomain = /[^a-z0-9.\-\u{80}-\u{10ffff}]/iu
/** Matches a domain in ASCII form with at least two labels. A number as the last label makes it an IP address. */
const asciiDomain = /^(?:[a-z0-9][a-z0-9-]*\.)+(?!\d+$)[a-z0-9][a-z0-9-]*$/

/**
 * Returns the form that all spellings of an e-mail address share: the local part in lower case and then NFC, and the
 * domain in ASCII form (UTS #46, as in a URL). Returns null for any text that is not an e-mail address.
 *
 * @example canonicalEmail('Eva@Bücher.example') // 'eva@xn--bcher-kva.example'
 */
export function canonicalEmail(address: string): string | null {
  const { local, domain } = partsOf(address)
  const canonicalLocal = local.toLowerCase().normalize('NFC')
  if (!localPart.test(canonicalLocal) || notInDomain.test(domain)) return null
  const ascii = domainToASCII(domain)
  return asciiDomain.test(ascii) ? `${canonicalLocal}@${ascii}` : null
}

/** Returns an e-mail address as it is stored and shown: in the spelling that was sent, trimmed and in lower case. */
export function shownEmail(address: string): string {
  const { local, domain } = partsOf(address)
  // Each character is lower-cased on its own. Otherwise, the last letter of a Greek word would become another letter,
  // and the domain another domain.
  const lowered = Array.from(domain, (character) => character.toLowerCase())
  return `${local.toLowerCase()}@${lowered.join('')}`
}

/** Splits an address at its last `@`. Without one, both parts are empty, and neither is valid. */
function partsOf(address: string): { local: string; domain: string } {
  const [, local = '', domain = ''] = /^(.*)@(.*)$/su.exec(address.trim()) ?? []
  return { local, domain }
}

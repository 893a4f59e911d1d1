const acceptable = /^[A-Za-z0-9._-]{1,128}$/

/** Returns the caller's `X-Request-Id` if it is valid and contains no API key (decisions §1 and §18), or a new id. */
export function chooseRequestId(headers: Headers): string {
  const sent = headers.get('x-request-id')
  return sent !== null && acceptable.test(sent) && !mayHoldApiKey(sent) ? sent : crypto.randomUUID()
}

/** The form of an API key (decisions §3): `pis_`, 32 random base62 characters, and a 6-character checksum. */
export const apiKeyForm = { prefix: 'pis_', randomLength: 32, checksumLength: 6 } as const

const { prefix, randomLength, checksumLength } = apiKeyForm
const key = new RegExp(`${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}`)

/** Returns true if a text contains something in the form of an API key. Such a text must not be logged. */
export function mayHoldApiKey(text: string): boolean {
  return key.test(text)
}

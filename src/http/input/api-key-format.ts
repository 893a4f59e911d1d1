/** The format of an API key (decisions §3): `pis_`, 32 random base62 characters, and a 6-character checksum. */
export const apiKeyFormat = { prefix: 'pis_', randomLength: 32, checksumLength: 6 } as const

const { prefix, randomLength, checksumLength } = apiKeyFormat

const key = new RegExp(`${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}`)

/** Returns true if the text contains something that looks like an API key. Such text must not be logged. */
export function mayContainApiKey(text: string): boolean {
  return key.test(text)
}

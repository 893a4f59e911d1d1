const id = /^[1-9]\d{0,15}$/

/** Returns true for a positive integer below 2^53, written in digits without leading zeros. */
export const isIdText = (text: string) => id.test(text) && Number.isSafeInteger(Number(text))

/** Returns a path id as a number, or undefined if it is not a positive integer below 2^53. */
export function parsePathId(value: string | undefined): number | undefined {
  return value !== undefined && isIdText(value) ? Number(value) : undefined
}

/** Returns true if the text consists of 1 to 64 lower-case letters, digits or hyphens. */
export const isSlug = (text: string) => /^[a-z0-9-]{1,64}$/.test(text)

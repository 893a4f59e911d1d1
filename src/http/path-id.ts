const id = /^[1-9]\d{0,15}$/

/** True for the digits of a positive integer below 2^53. */
export const isIdText = (text: string) => id.test(text) && Number.isSafeInteger(Number(text))

/** A path id as a number, or undefined unless it is a positive integer below 2^53. */
export function parsePathId(value: string | undefined): number | undefined {
  return value !== undefined && isIdText(value) ? Number(value) : undefined
}

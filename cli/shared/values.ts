import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { option } from './command.ts'
import { UsageError } from './errors.ts'
import { reasonOf } from './file-errors.ts'
import { note } from './output.ts'
import { decodeText } from './utf8.ts'

/** Returns true for a positive integer below 2^53, written in digits without leading zeros. */
export function isIdText(text: string): boolean {
  return /^[1-9]\d{0,15}$/.test(text) && Number.isSafeInteger(Number(text))
}

/**
 * Parses a positive integer id.
 *
 * @throws UsageError for anything else
 */
export function parseId(text: string): number {
  if (!isIdText(text)) throw new UsageError(`"${text}" is not a valid id`)
  return Number(text)
}

/**
 * Parses an argument whose value must be one of the given words.
 *
 * @throws UsageError that lists the valid words
 */
export function oneOf<T extends string>(words: readonly T[], text: string): T {
  const word = words.find((candidate) => candidate === text)
  if (word === undefined) throw new UsageError(`"${text}" is not one of ${words.join(', ')}`)
  return word
}

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Longest duration that any option takes, in days. */
const maxDays = 400

/**
 * Converts a duration such as `90`, `60s`, `15m`, `24h` or `7d` to seconds.
 *
 * @throws UsageError for anything else, and for more than 400 days
 */
export function parseDuration(text: string): number {
  const [, amount, unit = 's'] = /^(\d{1,9}(?:\.\d+)?)([smhd])?$/.exec(text.trim()) ?? []
  if (amount === undefined)
    throw new UsageError(`"${text}" is not a valid duration; for example, use 60s, 15m, 24h or 7d`)
  const seconds = Number(amount) * (units[unit] as number)
  if (seconds > maxDays * 86_400) throw new UsageError(`"${text}" is longer than ${maxDays}d`)
  return seconds
}

/**
 * Parses the value of the option `name`, which must be a whole number from 1 to `maximum`.
 *
 * @throws UsageError for anything else
 */
export function parseCount(text: string, name: string, maximum: number): number {
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > maximum)
    throw new UsageError(`Option --${name} must be an integer from 1 to ${maximum}`)
  return count
}

const maxListed = 1000

/** Option for the maximum number of entries to list; a note on standard error says if there are more. */
export function limitArgument(what: string, standard = maxListed) {
  const description = `Maximum number of ${what} to list, up to ${maxListed}`
  return { limit: { type: 'string', default: String(standard), description } } as const
}

/** Option for continuing a list that is ordered by id. */
export function afterArgument(what: string) {
  return {
    after: option(`Only ${what} with a higher id, to continue a list`),
  } as const
}

/**
 * Parses the value of `--limit`.
 *
 * @throws UsageError unless it is an integer from 1 to 1,000
 */
export function parseLimit(text: string): number {
  return parseCount(text, 'limit', maxListed)
}

/**
 * Prints the first `limit` entries; a note on standard error says if there are more. The note comes afterwards, because
 * it must not precede the reason if the entries cannot be written (decisions §15).
 *
 * @param found results of a query for `limit + 1` entries
 */
export function printUpTo<T>(
  found: T[],
  limit: number,
  { show, hint }: { show: (shown: T[]) => void; hint: (last: T) => string },
): void {
  const shown = found.slice(0, limit)
  show(shown)
  if (found.length > limit) note(`There are more than ${limit}; ${hint(shown[limit - 1] as T)}`)
}

/**
 * Reads the text of a file, or standard input for `-`, without its byte order mark.
 *
 * @throws UsageError for a file that cannot be read, or that `decode` refuses
 */
export async function readText(file: string, decode = decodeText): Promise<string> {
  const bytes = await (file === '-' ? buffer(process.stdin) : readFile(file)).catch((error) => {
    throw new UsageError(`Cannot read "${file}": ${reasonOf(error)}`)
  })
  return decode(bytes, file === '-' ? 'Standard input' : `"${file}"`)
}

/** Parses JSON, or returns undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

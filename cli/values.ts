import { parsePathId } from '../src/schema/types.ts'
import { UsageError } from './errors.ts'

/**
 * A positive integer id.
 *
 * @throws UsageError for anything else
 */
export function parseId(text: string): number {
  const id = parsePathId(text)
  if (id === undefined) throw new UsageError(`"${text}" is no id`)
  return id
}

/**
 * One of the words that an argument takes.
 *
 * @throws UsageError that names them all
 */
export function oneOf<T extends string>(words: readonly T[], text: string): T {
  const word = words.find((candidate) => candidate === text)
  if (word === undefined) throw new UsageError(`"${text}" is not one of ${words.join(', ')}`)
  return word
}

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }

/**
 * Seconds of a duration such as `90`, `60s`, `15m`, `24h` or `7d`.
 *
 * @throws UsageError for anything else
 */
export function parseDuration(text: string): number {
  const [, amount, unit = 's'] = /^(\d{1,9}(?:\.\d+)?)([smhd])?$/.exec(text.trim()) ?? []
  if (amount === undefined)
    throw new UsageError(`"${text}" is no duration; write for example 60s, 15m or 24h`)
  return Number(amount) * (units[unit] as number)
}

import { UsageError } from './errors.ts'

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

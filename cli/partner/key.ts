import { UsageError } from '../shared/errors.ts'
import { apiKeyForm } from './service.ts'

const isKey = new RegExp(`^${apiKeyForm}$`)
const isQuoted = new RegExp(`^(["'\`“‘„«]).*${apiKeyForm}.*$`, 's')
const hasWordBefore = new RegExp(`^\\S.*?[\\s=:]+["']?${apiKeyForm}["']?$`)

/**
 * Checks an API key before it is sent (decisions §15). No message repeats any part of it.
 *
 * @param source where the key comes from, such as `PARTNER_API_KEY`
 * @returns the key
 * @throws UsageError that says what is wrong with it
 */
export function requireKey(text: string, source: string): string {
  if (isKey.test(text)) return text
  if (isQuoted.test(text)) throw new UsageError(`The API key in ${source} is in quotes: leave them out`)
  if (hasWordBefore.test(text))
    throw new UsageError(`The API key in ${source} has a word before it, such as "Bearer": leave it out`)
  throw new UsageError(
    `The API key in ${source} is not complete or not a key: it must be "pis_" and 38 letters and digits, and nothing else`,
  )
}

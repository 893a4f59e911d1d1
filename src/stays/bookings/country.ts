import { remove as removeDiacritics } from 'diacritics'
import countries from 'i18n-iso-countries'

/**
 * The two-letter code of a country written as a code or as a name in any language the library knows, or null if it
 * cannot be determined (decisions §9).
 */
export function toCountryCode(country: string | null | undefined): string | null {
  const text = country?.trim()
  if (!text) return null
  const upper = text.toUpperCase()
  if (countries.isValid(upper)) return upper.length === 2 ? upper : (countries.toAlpha2(upper) ?? null)
  codesByName ??= readNames()
  return codesByName.get(comparable(text)) ?? null
}

/** Made once: the library compares a name with all names of a language, each time, which is most of a booking's detail. */
let codesByName: Map<string, string> | undefined

function readNames(): Map<string, string> {
  const codes = new Map<string, string>()
  for (const language of countries.getSupportedLanguages())
    for (const [code, names] of Object.entries(countries.getNames(language, { select: 'all' })))
      for (const name of names) {
        const known = comparable(name)
        if (!codes.has(known)) codes.set(known, code)
      }
  return codes
}

/** As the library compares names: without case and diacritics. */
function comparable(name: string): string {
  return removeDiacritics(name.toLowerCase())
}

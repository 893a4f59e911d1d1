import { remove as removeDiacritics } from 'diacritics'
import countries from 'i18n-iso-countries'

/**
 * Returns the two-letter code of a country given as a code or as a name in any language that the library supports; null
 * if the country cannot be determined (decisions §9).
 */
export function toCountryCode(country: string | null | undefined): string | null {
  const text = country?.trim()
  if (!text) return null
  const upper = text.toUpperCase()
  if (countries.isValid(upper)) return upper.length === 2 ? upper : (countries.toAlpha2(upper) ?? null)
  codesByName ??= readNames()
  return codesByName.get(comparable(text)) ?? null
}

/**
 * The code that the European Union uses for Greece, and the countries of the United Kingdom, by normalized name. People
 * write them as a country, but the library does not know them (decisions §4).
 */
const codesOfOthers = {
  el: 'GR',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
} as const

/**
 * Country codes by normalized name. The map is built once, because each call to the library compares the name with all
 * names in a language, and this would dominate the cost of reading a booking in full.
 */
let codesByName: Map<string, string> | undefined

function readNames(): Map<string, string> {
  const codes = new Map<string, string>(Object.entries(codesOfOthers))
  for (const language of countries.getSupportedLanguages())
    for (const [code, names] of Object.entries(countries.getNames(language, { select: 'all' })))
      for (const name of names) {
        const known = comparable(name)
        if (!codes.has(known)) codes.set(known, code)
      }
  return codes
}

/**
 * Normalizes a name for comparison the way the library does: lower case, without diacritics. Names are composed first,
 * because the library knows no decomposed letters; what cannot be composed, such as the lower case of `İ`, loses its mark.
 */
function comparable(name: string): string {
  const composed = name.toLowerCase().normalize('NFC')
  return removeDiacritics(composed).replace(/[\u0300-\u036f]/g, '')
}

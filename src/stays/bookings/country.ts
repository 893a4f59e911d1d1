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
  for (const language of countries.getSupportedLanguages()) {
    const code = countries.getSimpleAlpha2Code(text, language)
    if (code) return code
  }
  return null
}

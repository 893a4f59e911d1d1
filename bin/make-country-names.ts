import { readFileSync, writeFileSync } from 'node:fs'
import countries from 'i18n-iso-countries'
import packageJson from 'i18n-iso-countries/package.json' with { type: 'json' }
import { comparable } from '../src/stays/bookings/country.ts'

/**
 * Makes `src/stays/bookings/country-names.txt`, the names of all countries in all languages that this runtime knows, and
 * the further names that the package `i18n-iso-countries` has in these languages (decisions §4). With `--check`, compares
 * the file with what it would be and exits with 1 if they differ. Names belong to a version of ICU, so under another
 * version than the file's, there is nothing to compare.
 */
const target = new URL('../src/stays/bookings/country-names.txt', import.meta.url)

/** Scripts in which some language has names of its own, such as `zh-Hant`. */
const scripts = [
  'Adlm',
  'Arab',
  'Beng',
  'Cyrl',
  'Deva',
  'Ethi',
  'Guru',
  'Hans',
  'Hant',
  'Latn',
  'Olck',
  'Tfng',
]

/**
 * Names in the package that are another country's. A name that contradicts the runtime's in the same language is
 * recognized by that; these cannot be.
 */
const wrongNames = new Set([
  // The Democratic Republic of the Congo is CD, and the people's republic was CG.
  'pt CG República Democrática do Congo',
  'pt CD República Popular do Congo',
  // French Guiana, under French Polynesia.
  'hi PF फ्रैंच गुआना',
])

/** Base languages in which a name means a country, by country. */
type Claims = Map<string, Set<string>>

const codes = Object.entries(countries.getAlpha2Codes()).sort(([one], [other]) => (one < other ? -1 : 1))

/** Returns every locale with names of its own: languages, and languages with a script or a region. */
function findLocales(): string[] {
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const pairs = letters.flatMap((one) => letters.map((other) => one + other))
  const triples = pairs.flatMap((pair) => letters.map((letter) => pair + letter))
  const languages = Intl.DisplayNames.supportedLocalesOf([...pairs, ...triples])
  const variants = [...scripts, ...codes.map(([code]) => code)]
  const locales = languages.flatMap((language) => [
    language,
    ...variants.map((variant) => `${language}-${variant}`),
  ])
  return locales.filter((locale) => namesIn(locale, 'long').resolvedOptions().locale === locale)
}

function namesIn(locale: string, style: 'long' | 'short' | 'narrow') {
  return new Intl.DisplayNames([locale], { type: 'region', style, fallback: 'none' })
}

function baseOf(locale: string): string {
  return locale.split('-')[0] as string
}

/** Adds a claim that a name in a language means a country. */
function claim(claims: Map<string, Claims>, name: string, code: string, language: string): void {
  const known = comparable(name)
  if (known === '') return
  const byCode = claims.get(known) ?? new Map<string, Set<string>>()
  const languages = byCode.get(code) ?? new Set<string>()
  claims.set(known, byCode.set(code, languages.add(language)))
}

/** Returns the runtime's names. */
function readRuntime(): Map<string, Claims> {
  const claims = new Map<string, Claims>()
  for (const locale of findLocales())
    for (const style of ['long', 'short', 'narrow'] as const) {
      const names = namesIn(locale, style)
      for (const [code] of codes) claim(claims, names.of(code) ?? '', code, baseOf(locale))
    }
  return claims
}

/** Adds the package's names in the runtime's languages, except those that contradict the runtime in their language. */
function addPackage(claims: Map<string, Claims>): void {
  const own = new Map<string, Claims>()
  for (const language of Intl.DisplayNames.supportedLocalesOf(countries.getSupportedLanguages()))
    for (const [code, names] of Object.entries(countries.getNames(language, { select: 'all' })))
      for (const name of names) {
        if (wrongNames.has(`${language} ${code} ${name}`)) continue
        const inRuntime = meaningsIn(language, claims.get(comparable(name)))
        if (inRuntime.length === 0 || inRuntime.includes(code)) claim(own, name, code, language)
      }
  for (const [name, byCode] of own)
    for (const [code, languages] of byCode)
      for (const language of languages) claim(claims, name, code, language)
}

/** Returns the countries that a name means in a language. */
function meaningsIn(language: string, claims: Claims = new Map()): string[] {
  return [...claims].filter(([, languages]) => languages.has(language)).map(([code]) => code)
}

/**
 * Returns what a name means: a country, or for each language in which it means one country, `language=code`.
 *
 * @param owner the country that has the name, in upper case, as its three-letter code; undefined if none has
 */
function meaningOf(claims: Claims, owner: string | undefined): string {
  const [only, ...others] = claims.keys()
  // `Nga` is Russia in Vietnamese, but a form that spoils the case of codes may mean Nigeria.
  const isClear = others.length === 0 && (owner === undefined || owner === only)
  if (isClear) return only as string
  const languages = [...new Set([...claims.values()].flatMap((one) => [...one]))].sort()
  const choices: string[] = []
  for (const language of languages) {
    const [meaning, ...further] = meaningsIn(language, claims)
    if (further.length === 0) choices.push(`${language}=${meaning}`)
  }
  return choices.join(' ')
}

function makeTable(): string {
  const claims = readRuntime()
  addPackage(claims)
  const owners = new Map(codes.map(([alpha2, alpha3]) => [comparable(alpha3), alpha2]))
  const lines = [...claims].map(([name, claimed]) => `${name}\t${meaningOf(claimed, owners.get(name))}`)
  for (const [alpha2, alpha3] of codes) lines.push(`${alpha2}\t${alpha2}`, `${alpha3}\t${alpha2}`)
  // The header sorts before every name.
  return `${[headerOf(process.versions.icu), ...lines].sort().join('\n')}\n`
}

function headerOf(icu: string | undefined): string {
  return `# Made by bin/make-country-names.ts from ICU ${icu} and i18n-iso-countries ${packageJson.version}`
}

if (process.argv.includes('--check')) {
  const stored = readFileSync(target, 'utf8')
  const icu = /^# .* from ICU (\S+) /.exec(stored)?.[1]
  if (icu !== process.versions.icu)
    console.log(
      `The country names are from ICU ${icu}; this is ICU ${process.versions.icu}, so they are not compared`,
    )
  else if (stored !== makeTable()) {
    console.error('The country names are not current: run bin/bun bin/make-country-names.ts')
    process.exit(1)
  }
} else writeFileSync(target, makeTable())

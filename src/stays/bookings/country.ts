import { readFileSync } from 'node:fs'

/**
 * Returns the two-letter code of a country given as a code or as a name in any language (decisions §4); null if the
 * country cannot be determined, because a missing country does less harm than a wrong one.
 *
 * @param language the language that the guest's country is probably written in, such as `de` or `de-AT`; it decides
 *   between two countries whose names are equal in different languages; null if it is unknown
 */
export function toCountryCode(country: string | null | undefined, language?: string | null): string | null {
  const text = country?.trim()
  if (!text) return null
  const code = codeOf(text)
  if (code) return code
  const name = comparable(text)
  const meaning = aliases.get(name) ?? lookUp(name)
  if (meaning === undefined || meaning.length === 2) return meaning ?? null
  const [base] = language?.split('-') ?? []
  const choice = meaning.split(' ').find((one) => one.startsWith(`${base}=`))
  return choice?.split('=')[1] ?? null
}

/** Returns the two-letter code of a two-letter code in any case, or of a three-letter code in upper case. */
function codeOf(text: string): string | undefined {
  if (/^[a-z]{2}$/i.test(text)) return lookUp(text.toUpperCase())
  return /^[A-Z]{3}$/.test(text) ? lookUp(text) : undefined
}

/**
 * The code that the European Union uses for Greece, and the countries of the United Kingdom, by comparable name. People
 * write them as a country, but no list of countries has them (decisions §4).
 */
const aliases = new Map([
  ['el', 'GR'],
  ['england', 'GB'],
  ['scotland', 'GB'],
  ['wales', 'GB'],
  ['northern ireland', 'GB'],
])

/** Letters that people also write with other letters, and that no Unicode form takes apart. */
const spellings: Record<string, string> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ß: 'ss',
  þ: 'th',
  ς: 'σ',
}
const spelledLetter = new RegExp(`[${Object.keys(spellings).join('')}]`, 'gu')

/**
 * Returns the form in which names are compared: without case, accents, apostrophes and invisible characters, and with
 * one space for any punctuation. Only Latin, Greek and Cyrillic accents are dropped: in other scripts, a mark is a vowel.
 *
 * @example comparable('CÔTE D’IVOIRE') // 'cote divoire'
 */
export function comparable(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .replace(spelledLetter, (letter) => spellings[letter] ?? letter)
    .replace(/['’ʻʼ‘`´]|\p{Cf}/gu, '')
    .replace(/[\p{P}\p{S}\s]+/gu, ' ')
    .trim()
}

/** The content of `country-names.txt`, once something has been looked up. */
let table: string | undefined

/**
 * Returns what the table has for a code in upper case or a comparable name: a two-letter code, or for a name of several
 * countries, `language=code` for each language that decides; undefined if there is nothing.
 *
 * `bin/make-country-names.ts` makes the table, because the names differ between runtimes and their versions. Its lines
 * are sorted, and are searched as they stand: a map of 30,000 names would cost each process 15 MB, and a pause of tens
 * of milliseconds at the first guest.
 */
function lookUp(name: string): string | undefined {
  table ??= readFileSync(new URL('country-names.txt', import.meta.url), 'utf8')
  let low = 0
  let high = table.length
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const start = table.lastIndexOf('\n', middle - 1) + 1
    const end = table.indexOf('\n', middle)
    const [found = '', meaning] = table.slice(start, end).split('\t')
    if (found === name) return meaning
    if (found < name) low = end + 1
    else high = start
  }
  return undefined
}

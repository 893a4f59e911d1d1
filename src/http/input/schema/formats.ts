import { isCalendarDate, isFeedTime, isVersion, parseMoment } from '../../../core/clock.ts'
import { canonicalEmail } from '../../../core/email.ts'
import { currencies, isCurrencyCode } from '../../../core/money.ts'
import { isIdText } from '../path-ids.ts'

/** A string format: its check, its error message and its representation in the OpenAPI document. */
export interface Format {
  accepts(text: string): boolean
  /** Completes the sentence `"path" must be …`. */
  expectation: string
  /**
   * The format in the OpenAPI document. Every string that matches is accepted, but a few accepted strings do not match.
   */
  documented: { format?: string; pattern?: string }
}

/** Matches a language with at most one of a script, a region and a variant (BCP 47), also with `_` as on Unix. */
const language = /^[A-Za-z]{2,3}(?:[-_](?:[A-Za-z]{4}|[A-Za-z]{2}|\d{3}|[A-Za-z0-9]{5,8}|\d[A-Za-z0-9]{3}))?$/
const month = /^\d{4}-(?:0[1-9]|1[0-2])$/
const timeOfDay = /^([01]\d|2[0-3]):[0-5]\d$/
const responseStatus = /^(?:[2-5](?:xx|\d\d)|unanswered)$/

/** Matches real dates of the Gregorian calendar, including leap days. */
const datePattern = String.raw`(?:\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))|(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)`

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
}

/** `webcal` is the scheme with which calendar programs offer their files; such a file is read over https. */
function isCalendarAddress(text: string): boolean {
  return isWebAddress(text.replace(/^\s*webcal:/i, 'https:'))
}

function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false
  try {
    return Boolean(canonicalTimeZone(text))
  } catch {
    return false
  }
}

/**
 * Returns a language code in its canonical spelling.
 *
 * @example canonicalLanguage('pt_br') // 'pt-BR'
 */
export function canonicalLanguage(code: string): string {
  return Intl.getCanonicalLocales(code.replace('_', '-'))[0] as string
}

/**
 * Returns the name of a time zone in its canonical spelling; a zone with several names keeps the one that was sent.
 *
 * @example canonicalTimeZone('europe/madrid') // 'Europe/Madrid'
 */
export function canonicalTimeZone(zone: string): string {
  return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
}

/** All formats that a string in a request may have. */
export const formats = {
  text: {
    accepts: () => true,
    expectation: 'text without NUL or broken characters',
    documented: { pattern: String.raw`^[^\u0000]*$` },
  },
  date: {
    accepts: isCalendarDate,
    expectation: 'a real calendar date written YYYY-MM-DD',
    documented: { format: 'date' },
  },
  month: {
    accepts: (text) => month.test(text),
    expectation: 'a month written YYYY-MM',
    documented: { pattern: month.source },
  },
  uri: {
    accepts: isWebAddress,
    expectation: 'an http or https address',
    documented: { format: 'uri' },
  },
  'calendar-address': {
    accepts: isCalendarAddress,
    expectation: 'an https or webcal address',
    documented: { format: 'uri' },
  },
  email: {
    accepts: (text) => canonicalEmail(text) !== null,
    expectation: 'an e-mail address',
    documented: { format: 'email' },
  },
  language: {
    accepts: (text) => language.test(text),
    expectation: 'a short language code such as "en"',
    documented: { pattern: language.source },
  },
  timezone: {
    accepts: isTimeZone,
    expectation: 'an IANA time zone such as "Europe/Madrid"',
    documented: {
      pattern: `^(?:UTC|${Intl.supportedValuesOf('timeZone').join('|').replaceAll('+', '\\+')})$`,
    },
  },
  currency: {
    accepts: isCurrencyCode,
    expectation: 'an ISO currency code such as "EUR"',
    documented: {
      pattern: `^(?:${[...currencies, ...currencies.map((code) => code.toLowerCase())].join('|')})$`,
    },
  },
  'time-of-day': {
    accepts: (text) => timeOfDay.test(text),
    expectation: 'a time written HH:MM',
    documented: { pattern: timeOfDay.source },
  },
  'feed-time': {
    accepts: isFeedTime,
    expectation: 'a date Y-m-d or a date-time Y-m-d H:i:s',
    documented: { pattern: `^${datePattern}(?: (?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d)?$` },
  },
  version: {
    accepts: isVersion,
    expectation: 'a version written Y-m-d H:i:s',
    documented: { pattern: `^${datePattern} (?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d$` },
  },
  'response-status': {
    accepts: (text) => responseStatus.test(text),
    expectation: 'a status such as "422" or "4xx", or "unanswered"',
    documented: { pattern: responseStatus.source },
  },
  moment: {
    accepts: (text) => parseMoment(text) !== null,
    expectation: 'a time in ISO 8601 or written YYYY-MM-DD HH:MM:SS',
    documented: {
      pattern: `^${datePattern}(?:T(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d)?| (?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d)?$`,
    },
  },
  id: {
    accepts: isIdText,
    expectation: 'a positive integer id',
    documented: { pattern: '^[1-9][0-9]{0,14}$' },
  },
} satisfies Record<string, Format>

export type FormatName = keyof typeof formats

import { dayNumber, daySeconds, daysInMonth } from './days.ts'

/** A property of a component. */
export interface Property {
  /** Its name and parameters. */
  head: string
  value: string
}

/** When something begins or ends, as the file says it. */
export interface Moment {
  /** `date`: a day; `wall`: what a clock on the wall shows; `utc`: the same moment everywhere. */
  form: 'date' | 'wall' | 'utc'
  /** Since 1970, on the clock that is meant; of a date, its midnight. */
  seconds: number
  /** The time zone's name in the file, if the clock is that of a zone. */
  zone: string | null
}

/** Cuts a line of the form `NAME;PARAMETER=value;PARAMETER="value":value`. */
export function readProperty(line: string): Property {
  const quote = line.indexOf('"')
  let colon = line.indexOf(':')
  if (quote >= 0 && quote < colon) colon = firstOutsideQuotes(line, ':')
  if (colon < 0) return { head: line, value: '' }
  return { head: line.slice(0, colon), value: line.slice(colon + 1).trim() }
}

/**
 * Cuts a line whose value has dates or times, which have no colon. So the value begins at the last one: some senders
 * write names of zones that have a colon, such as `TZID=(UTC+01:00) Berlin`, without quotes.
 */
export function readTimes(line: string): Property {
  const colon = line.lastIndexOf(':')
  return { head: line.slice(0, Math.max(0, colon)), value: line.slice(colon + 1).trim() }
}

function firstOutsideQuotes(text: string, character: string, from = 0): number {
  let isQuoted = false
  for (let index = from; index < text.length; index += 1) {
    if (text[index] === '"') isQuoted = !isQuoted
    if (!isQuoted && text[index] === character) return index
  }
  return -1
}

/** Returns a parameter's value without its quotes, or null if the property lacks it. The name is in upper case. */
export function parameterOf({ head }: Property, name: string): string | null {
  let begin = head.indexOf(';') + 1
  while (begin > 0) {
    const found = firstOutsideQuotes(head, ';', begin)
    const parameter = head.slice(begin, found < 0 ? head.length : found)
    const equals = parameter.indexOf('=')
    const isNamed = parameter.slice(0, Math.max(0, equals)).trim().toUpperCase() === name
    if (isNamed)
      return parameter
        .slice(equals + 1)
        .replaceAll('"', '')
        .trim()
    begin = found + 1
  }
  return null
}

/**
 * Reads a date or a time, such as `20261205`, `20261205T150000` or `20261205T140000Z`. Eight digits are a date, with or
 * without `VALUE=DATE`, and of a time that is said to be a date only the date counts. Returns null if it is none.
 *
 * @param property whose value it is, or a part of it
 */
export function readMoment(sent: string, property: Property): Moment | null {
  const text = sent.trim()
  const day = validDay(digitsAt(text, 0, 4), digitsAt(text, 4, 2), digitsAt(text, 6, 2))
  if (day === null) return null
  const midnight = day * daySeconds
  if (text.length === 8) return { form: 'date', seconds: midnight, zone: null }
  const hour = digitsAt(text, 9, 2)
  const minute = digitsAt(text, 11, 2)
  const second = digitsAt(text, 13, 2)
  const isTime = isLetter(text[8], 'T') && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && second >= 0
  const isUtc = text.length === 16 && isLetter(text[15], 'Z')
  if (!isTime || second > 60 || !(isUtc || text.length === 15)) return null
  const isDate = parameterOf(property, 'VALUE')?.toUpperCase() === 'DATE'
  if (isDate) return { form: 'date', seconds: midnight, zone: null }
  const seconds = midnight + hour * 3600 + minute * 60 + second
  if (isUtc) return { form: 'utc', seconds, zone: null }
  return { form: 'wall', seconds, zone: parameterOf(property, 'TZID') }
}

/** Returns the number that digits of a text form, or a number below 0 if one of them is no digit. */
function digitsAt(text: string, start: number, length: number): number {
  let number = 0
  for (let index = start; index < start + length; index += 1) {
    const digit = text.charCodeAt(index) - 48
    if (!(digit >= 0 && digit <= 9)) return -1
    number = number * 10 + digit
  }
  return number
}

function isLetter(character: string | undefined, letter: string): boolean {
  return character?.toUpperCase() === letter
}

/** Returns a day's number, or null if there is no such day. The month is from 1 to 12. */
export function validDay(year: number, month: number, day: number): number | null {
  if (year < 1 || month < 1 || month > 12) return null
  if (day < 1 || day > daysInMonth(year, month)) return null
  return dayNumber(year, month, day)
}

const duration = /^([+-])?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/i

/** Reads a duration, such as `P7D` or `PT12H`, in seconds; below 0 if it goes back. Returns null if it is none. */
export function readDuration(text: string): number | null {
  const parts = duration.exec(text.trim())
  if (!parts || !/\d/.test(text)) return null
  const [, sign, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts
  const wholeDays = Number(weeks) * 7 + Number(days)
  const total = wholeDays * daySeconds + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  return sign === '-' ? -total : total
}

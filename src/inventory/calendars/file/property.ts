import { dayNumber, daySeconds, daysInMonth } from './days.ts'

/** A property of a component: its parameters, with names in upper case, and its value. */
export interface Property {
  parameters: ReadonlyMap<string, string>
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

/** Reads a line of the form `NAME;PARAMETER=value;PARAMETER="value":value`. */
export function readProperty(line: string): Property {
  const colon = line.indexOf(':')
  const semicolon = line.indexOf(';')
  const hasParameters = semicolon >= 0 && semicolon < colon
  if (!hasParameters) return { parameters: noParameters, value: line.slice(colon + 1).trim() }
  const parameters = new Map<string, string>()
  let begin = semicolon + 1
  let isQuoted = false
  for (let index = begin; index < line.length; index += 1) {
    const character = line[index]
    if (character === '"') isQuoted = !isQuoted
    if (isQuoted || (character !== ';' && character !== ':')) continue
    addParameter(parameters, line.slice(begin, index))
    begin = index + 1
    if (character === ':') break
  }
  return { parameters, value: line.slice(begin).trim() }
}

const noParameters: ReadonlyMap<string, string> = new Map()

function addParameter(parameters: Map<string, string>, text: string): void {
  const equals = text.indexOf('=')
  if (equals < 0) return
  const value = text.slice(equals + 1).replaceAll('"', '')
  parameters.set(text.slice(0, equals).trim().toUpperCase(), value.trim())
}

/**
 * Reads a line whose value has dates or times, which have no colon. So the value begins at the last one: some senders
 * write names of zones that have a colon, such as `TZID=(UTC+01:00) Berlin`, without quotes.
 */
export function readTimes(line: string): Property {
  const colon = line.lastIndexOf(':')
  const first = line.indexOf(':')
  if (colon === first) return readProperty(line)
  const head = line.slice(0, colon)
  const parameters = new Map(readProperty(`${head}:`).parameters)
  const zone = /;TZID=([^";]*)$/i.exec(head)?.[1]
  if (zone !== undefined) parameters.set('TZID', zone.trim())
  return { parameters, value: line.slice(colon + 1).trim() }
}

const time = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z)?)?$/i

/**
 * Reads a date or a time, such as `20261205`, `20261205T150000` or `20261205T140000Z`. Eight digits are a date, with or
 * without `VALUE=DATE`, and of a time that is said to be a date only the date counts. Returns null if it is none.
 */
export function readMoment(text: string, parameters: ReadonlyMap<string, string>): Moment | null {
  const parts = time.exec(text.trim())
  if (!parts) return null
  const [, year, month, day, hour, minute, second, isUtc] = parts
  const date = validDay(Number(year), Number(month), Number(day))
  if (date === null) return null
  if (hour === undefined) return { form: 'date', seconds: date * daySeconds, zone: null }
  const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) <= 60
  if (!isTime) return null
  if (parameters.get('VALUE')?.toUpperCase() === 'DATE')
    return { form: 'date', seconds: date * daySeconds, zone: null }
  const seconds = date * daySeconds + Number(hour) * 3600 + Number(minute) * 60 + Number(second)
  if (isUtc !== undefined) return { form: 'utc', seconds, zone: null }
  return { form: 'wall', seconds, zone: parameters.get('TZID') ?? null }
}

function validDay(year: number, month: number, day: number): number | null {
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

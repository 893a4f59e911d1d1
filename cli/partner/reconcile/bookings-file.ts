import { CsvError, parse } from 'csv-parse'
import { type DigestedBooking, isCalendarDate, isVersion } from '../../../client/src/index.ts'
import { isIdText, parseJson, readText } from '../../shared/values.ts'
import { bookingStatuses } from '../service.ts'

/** A booking as the partner stores it, with its version if the partner keeps one. */
export interface PartnersBooking extends DigestedBooking {
  version?: string
}

interface Row {
  line: number
  fields: Record<string, unknown>
}

/**
 * Reads a partner's bookings from JSON lines if the first character is `{`, otherwise from CSV with a header line.
 * Unknown columns are ignored.
 *
 * @param path `-` for standard input
 * @throws UsageError for a file that cannot be read; Error for the first line that is not a booking, or
 *   repeats an earlier booking's id
 */
export async function readBookingsFile(path: string): Promise<PartnersBooking[]> {
  const text = await readText(path)
  const bookings = new Map<number, PartnersBooking>()
  for await (const row of text.startsWith('{') ? rowsOfJson(text) : rowsOfCsv(text)) {
    const booking = toBooking(row)
    if (bookings.has(booking.booking_id))
      throw malformed(row.line, `"booking_id" ${booking.booking_id} appears more than once`)
    bookings.set(booking.booking_id, booking)
  }
  return [...bookings.values()]
}

function* rowsOfJson(text: string): Generator<Row> {
  for (const [index, json] of text.split('\n').entries()) {
    if (json.trim() === '') continue
    const line = index + 1
    const fields = parseJson(json)
    if (typeof fields !== 'object' || fields === null)
      throw new Error(`Line ${line} of the file is not a JSON object`)
    yield { line, fields: fields as Row['fields'] }
  }
}

async function* rowsOfCsv(text: string): AsyncGenerator<Row> {
  if (text.trim() === '') throw malformed(1, 'the header line with the column names is missing')
  const columns = (header: string[]) => {
    const names = header.map((name) => name.trim())
    const absent = required.find((name) => !names.includes(name))
    if (absent) throw malformed(1, `the header has no column "${absent}"`)
    return names
  }
  try {
    for await (const { record, info } of parse(text, { columns, info: true, skip_empty_lines: true }))
      yield { line: info.lines, fields: record }
  } catch (error) {
    if (error instanceof CsvError) throw malformed(Number(error.lines ?? 1), error.message)
    throw error
  }
}

const isId = (value: unknown) => ['string', 'number'].includes(typeof value) && isIdText(String(value))
const isDay = (value: unknown) => typeof value === 'string' && isCalendarDate(value)
const checks = {
  booking_id: [isId, 'the id of a booking'],
  status: [
    (value: unknown) => bookingStatuses.includes(String(value)),
    `one of ${bookingStatuses.join(', ')}`,
  ],
  checkin_at: [isDay, 'a day written YYYY-MM-DD'],
  checkout_at: [isDay, 'a day written YYYY-MM-DD'],
} as const
const required = Object.keys(checks)

function toBooking({ line, fields }: Row): PartnersBooking {
  for (const [name, [isValid, expectation]] of Object.entries(checks))
    if (!isValid(fields[name])) throw malformed(line, `"${name}" must be ${expectation}`)
  const { booking_id, status, checkin_at, checkout_at, version = null } = fields
  const booking = { booking_id: Number(booking_id), status, checkin_at, checkout_at } as DigestedBooking
  if (version === null || version === '') return booking
  if (typeof version !== 'string' || !isVersion(version))
    throw malformed(line, '"version" must be written YYYY-MM-DD HH:MM:SS, or be empty')
  return { ...booking, version }
}

/** @param sentence what is wrong with the line */
function malformed(line: number, sentence: string): Error {
  return new Error(`Line ${line} of the file: ${sentence}`)
}

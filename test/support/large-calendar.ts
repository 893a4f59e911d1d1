import { addDays } from '../../src/core/clock.ts'

/** How large a calendar's file may be, as it is sent and decompressed (decisions §31). */
const maxBytes = 2 * 1024 * 1024
const maxDecompressedBytes = 8 * 1024 * 1024
const maxEvents = 10_000

/** The beginning of an event that takes two nights, in the form in which sites write it. */
function eventLines(index: number, today: string): string[] {
  const day = (offset: number) => addDays(today, offset).replaceAll('-', '')
  const start = index % 1000
  return [
    'BEGIN:VEVENT',
    `DTEND;VALUE=DATE:${day(start + 2)}`,
    `DTSTART;VALUE=DATE:${day(start)}`,
    `UID:1418fb94e984-${String(index).padStart(12, '0')}@example.com`,
    'DTSTAMP:20261130T081500Z',
  ]
}

function calendarOf(events: string[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(
    ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events, 'END:VCALENDAR', ''].join('\r\n'),
  )
}

/** A file with as many events as a file may have, a little smaller than what may be sent. */
export function largestPlainFile(today: string): Uint8Array<ArrayBuffer> {
  const events = Array.from({ length: maxEvents }, (_, index) => {
    return [...eventLines(index, today), 'SUMMARY:Reserved', 'END:VEVENT'].join('\r\n')
  })
  const bytes = calendarOf(events)
  if (bytes.length > maxBytes) throw new Error(`The file has ${bytes.length} bytes`)
  return bytes
}

/** A file in gzip that is as large as it may be both ways, and has as many events as a file may have. */
export function largestGzipFile(today: string): Uint8Array<ArrayBuffer> {
  const events = Array.from({ length: maxEvents }, (_, index) => {
    // Half a byte a character, which nothing compresses further, and text that shrinks to nothing.
    const random = Buffer.from(crypto.getRandomValues(new Uint8Array(150))).toString('hex')
    const lines = [...eventLines(index, today), `DESCRIPTION:${random}`, `X-TEXT:${'Reserved '.repeat(36)}`]
    return [...lines, 'END:VEVENT'].join('\r\n')
  })
  const bytes = calendarOf(events)
  const sent = Bun.gzipSync(bytes)
  if (bytes.length > maxDecompressedBytes) throw new Error(`The file has ${bytes.length} bytes`)
  if (sent.length > maxBytes) throw new Error(`The file is sent in ${sent.length} bytes`)
  return sent
}

/** A file with as many events as a file may have, each of which repeats daily without an end. */
export function mostRules(): Uint8Array<ArrayBuffer> {
  const events = Array.from({ length: maxEvents }, (_, index) => {
    return [
      'BEGIN:VEVENT',
      'DTSTART;VALUE=DATE:20200101',
      `UID:${index}@example.com`,
      'RRULE:FREQ=DAILY',
      'END:VEVENT',
    ].join('\r\n')
  })
  return calendarOf(events)
}

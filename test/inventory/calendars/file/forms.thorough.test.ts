import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays } from '../../../../src/core/clock.ts'
import { calendarOf, eventOf, readText } from '../../../support/calendar-files.ts'
import { runs } from '../../../support/soak.ts'

const compact = (day: string) => day.replaceAll('-', '')

/** A stay from `start` days after 1 December 2026. */
const stay = fc.record({ start: fc.integer({ min: 0, max: 1000 }), nights: fc.integer({ min: 1, max: 30 }) })

/** The lines of a stay's event, with words in which bytes, folds and colons may be mistaken. */
function linesOf({ start, nights }: { start: number; nights: number }): string[] {
  return [
    'SUMMARY:Réservée: 民宿 – “Zoë”\\, BEGIN:VEVENT',
    `DTSTART;VALUE=DATE:${compact(addDays('2026-12-01', start))}`,
    `DTEND;VALUE=DATE:${compact(addDays('2026-12-01', start + nights))}`,
    `UID:${start}-ü@example.com`,
    'DESCRIPTION;ALTREP="cid:a;b":one\\ntwo',
  ]
}

/** Folds a text's bytes wherever it is told to, also within a character or a name. */
function fold(line: string, widths: number[], lineEnd: string): number[] {
  const bytes = [...new TextEncoder().encode(line)]
  const folded: number[] = []
  let left = widths[0] ?? 75
  for (const [index, byte] of bytes.entries()) {
    if (left === 0) {
      folded.push(...new TextEncoder().encode(lineEnd), index % 2 === 0 ? 32 : 9)
      left = widths[index % widths.length] ?? 75
    }
    folded.push(byte)
    left -= 1
  }
  return [...folded, ...new TextEncoder().encode(lineEnd)]
}

const form = fc.record({
  widths: fc.array(fc.integer({ min: 1, max: 80 }), { minLength: 1, maxLength: 5 }),
  lineEnd: fc.constantFrom('\r\n', '\n', '\r\n\r\n', '\n\n', '\r\r\n'),
  hasMark: fc.boolean(),
  isLowerCase: fc.boolean(),
  isReversed: fc.boolean(),
})

test('it makes no difference in which pieces a file comes', async () => {
  const files = fc.array(stay, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(files, form, fc.integer({ min: 1, max: 40 }), async (stays, how, pieceSize) => {
      const lines = calendarOf(...stays.map((one) => eventOf(...linesOf(one)))).split('\r\n')
      const mark = how.hasMark ? [0xef, 0xbb, 0xbf] : []
      const folded = lines.flatMap((line) => fold(line, how.widths, how.lineEnd))
      const bytes = new Uint8Array([...mark, ...folded])
      const whole = await readText(bytes, {}, bytes.length)
      expect(whole.events?.blocking).toBe(stays.length)
      expect(await readText(bytes, {}, pieceSize)).toEqual(whole)
    }),
    runs(50),
  )
})

test('folds, line ends, blank lines, a byte order mark, the case of names and the order of lines change nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stay, { minLength: 1, maxLength: 8 }), form, async (stays, how) => {
      const plain = await readText(calendarOf(...stays.map((one) => eventOf(...linesOf(one)))))
      const events = stays.map((one) => {
        const lines = linesOf(one)
        return how.isReversed ? lines.reverse() : lines
      })
      const lines = calendarOf(...events.map((one) => eventOf(...one)))
        .split('\r\n')
        .slice(0, -1)
      const bytes: number[] = how.hasMark ? [0xef, 0xbb, 0xbf] : []
      for (const line of lines) {
        const end = line.search(/[:;]/)
        const written = how.isLowerCase ? line.slice(0, end).toLowerCase() + line.slice(end) : line
        bytes.push(...fold(written, how.widths, how.lineEnd))
      }
      const formed = await readText(new Uint8Array(bytes))
      expect(formed).toEqual(plain)
      expect(plain.events?.blocking).toBe(stays.length)
    }),
    runs(60),
  )
})

test('a file that is cut off anywhere before its end is not a calendar', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stay, { maxLength: 4 }), fc.nat(), async (stays, cut) => {
      const one = calendarOf(...stays.map((each) => eventOf(...linesOf(each))))
      const whole = new TextEncoder().encode(one + calendarOf(eventOf('DTSTART:20261204')))
      const first = new TextEncoder().encode(one).length
      // What ends with the first calendar, or in the blank line after it, lacks nothing that can be known.
      const length = cut % (whole.length - 2)
      const endsWithFirst = length === first || length === first - 1 || length === first - 2
      const outcome = await readText(whole.slice(0, length))
      expect(outcome.kind).toBe(endsWithFirst ? 'calendar' : 'not_a_calendar')
    }),
    runs(200),
  )
})

const broken = fc.constantFrom(
  eventOf('SUMMARY:nothing else'),
  eventOf('DTSTART:20261332'),
  eventOf('DTSTART;VALUE=DATE:20261204', 'DTEND;VALUE=DATE:20261201'),
  eventOf('DTSTART:20261204', 'RRULE:FREQ=MINUTELY'),
  eventOf('DTSTART:20261204', 'RDATE:tomorrow', 'a line without a colon', ';:;', '"'),
)

test('a broken event changes only what is skipped, and the line that it begins at', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stay, { maxLength: 6 }), broken, fc.nat(), async (stays, bad, at) => {
      const events = stays.map((one) => eventOf(...linesOf(one)))
      const position = at % (events.length + 1)
      const without = await readText(calendarOf(...events))
      const withIt = await readText(calendarOf(...events.toSpliced(position, 0, bad)))
      // Two lines before the first event, and seven for each.
      expect(withIt.skipped.map(({ line }) => line)).toEqual([3 + 7 * position])
      expect({ blocks: withIt.blocks, blocking: withIt.events?.blocking }).toEqual({
        blocks: without.blocks,
        blocking: without.events?.blocking,
      })
    }),
    runs(60),
  )
})

const piece = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc
    .constantFrom(
      'BEGIN:VCALENDAR\n',
      'END:VCALENDAR\n',
      'BEGIN:VEVENT\n',
      'END:VEVENT\n',
      'BEGIN:VFREEBUSY\n',
      'DTSTART:20261204\n',
      'DTSTART;TZID=:20261204T1\n',
      'RRULE:FREQ=YEARLY;BYDAY=-1SU;BYSETPOS=3;COUNT=9\n',
      'RRULE:FREQ=DAILY;INTERVAL=999999999\n',
      'EXDATE:,,20261204,\n',
      'FREEBUSY:20261204/P1D,/\n',
      'RECURRENCE-ID;RANGE=THISANDFUTURE:20261204\nUID:a\n',
      'DURATION:P99999999999W\n',
      ' \r\n\t:',
    )
    .map((text) => new TextEncoder().encode(text)),
)

test('no bytes make the reader fail', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 60 }), fc.boolean(), async (pieces, isClosed) => {
      const text = isClosed ? ['BEGIN:VCALENDAR\n', '\nEND:VCALENDAR\n'] : ['', '']
      const [before, after] = text.map((part) => new TextEncoder().encode(part))
      const outcome = await readText(
        Buffer.concat([before ?? [], ...pieces, after ?? []].map((part) => Buffer.from(part))),
      )
      expect(['calendar', 'not_a_calendar', 'too_large']).toContain(outcome.kind)
    }),
    runs(200),
  )
})

const notCalendars = [
  { what: 'an empty file', text: '' },
  { what: 'blank lines', text: '\r\n\r\n' },
  { what: 'a page', text: '<!doctype html><html><body>BEGIN:VCALENDAR END:VCALENDAR</body></html>' },
  { what: 'an end without a beginning', text: 'END:VCALENDAR\r\n' },
  { what: 'a calendar within a calendar', text: 'BEGIN:VCALENDAR\nBEGIN:VCALENDAR\nEND:VCALENDAR\n' },
  { what: 'an event without a calendar', text: eventOf('DTSTART:20261204') },
]

test.each(notCalendars)('$what is not a calendar', async ({ text }) => {
  expect((await readText(text)).kind).toBe('not_a_calendar')
})

test('several calendars are read as one, and an empty one counts', async () => {
  const two = calendarOf(eventOf('DTSTART:20261204')) + calendarOf(eventOf('DTSTART:20261210'))
  expect((await readText(two)).blocks).toEqual(['2026-12-04/2026-12-05', '2026-12-10/2026-12-11'])
  expect(await readText(calendarOf())).toMatchObject({ kind: 'calendar', blocks: [], events: { read: 0 } })
})

test('an event whose end is missing ends where the next one begins', async () => {
  const open = 'BEGIN:VEVENT\r\nDTSTART:20261204\r\nBEGIN:VALARM'
  const outcome = await readText(calendarOf(open, eventOf('DTSTART:20261210')))
  expect(outcome.blocks).toEqual(['2026-12-04/2026-12-05', '2026-12-10/2026-12-11'])
})

test('nothing that the file says is returned except dates and numbers of lines', async () => {
  const secret = 'SECRETNAME'
  const event = eventOf(`UID:${secret}`, `DTSTART;TZID=${secret}:20261204T150000`, 'DTEND:20261206T100000')
  const bad = eventOf(`DTSTART:${secret}`, `SUMMARY:${secret}`)
  const outcome = await readText(calendarOf(`X-WR-TIMEZONE:${secret}`, event, bad))
  expect(outcome.events).toEqual({ read: 2, blocking: 1, skipped: 1 })
  expect(JSON.stringify(outcome)).not.toContain(secret)
})

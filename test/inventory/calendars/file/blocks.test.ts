import { expect, test } from 'vitest'
import { calendarOf, eventOf, readText } from '../../../support/calendar-files.ts'

interface Case {
  says: string
  lines: string[]
  blocks?: string[]
  skipped?: string
  country?: string
}

/** Events, each the only one of its file, and what they block. It is 1 December 2026. */
const cases: Case[] = [
  {
    says: 'dates are nights up to the day before the end',
    lines: ['DTSTART;VALUE=DATE:20261204', 'DTEND;VALUE=DATE:20261208'],
    blocks: ['2026-12-04/2026-12-08'],
  },
  {
    says: 'eight digits are a date without VALUE too',
    lines: ['DTSTART:20261204', 'DTEND:20261208'],
    blocks: ['2026-12-04/2026-12-08'],
  },
  {
    says: 'a date without an end is one night',
    lines: ['DTSTART;VALUE=DATE:20261204'],
    blocks: ['2026-12-04/2026-12-05'],
  },
  {
    says: 'the same date twice is one night',
    lines: ['DTSTART;VALUE=DATE:20261204', 'DTEND;VALUE=DATE:20261204'],
    blocks: ['2026-12-04/2026-12-05'],
  },
  {
    says: 'a length of a date is rounded down to whole days',
    lines: ['DTSTART;VALUE=DATE:20261204', 'DURATION:P2DT23H'],
    blocks: ['2026-12-04/2026-12-06'],
  },
  {
    says: 'a length of a date below one day is one night',
    lines: ['DTSTART;VALUE=DATE:20261204', 'DURATION:PT1H'],
    blocks: ['2026-12-04/2026-12-05'],
  },
  {
    says: 'a week is seven nights',
    lines: ['DTSTART;VALUE=DATE:20261204', 'DURATION:P1W'],
    blocks: ['2026-12-04/2026-12-11'],
  },
  {
    says: '15:00 to 11:00 two days later takes two nights',
    lines: ['DTSTART:20261204T150000', 'DTEND:20261206T110000'],
    blocks: ['2026-12-04/2026-12-06'],
  },
  { says: 'an hour of a day takes no night', lines: ['DTSTART:20261204T100000', 'DTEND:20261204T110000'] },
  { says: 'a time without an end takes no night', lines: ['DTSTART:20261204T230000'] },
  {
    says: 'midnight to midnight takes the nights between',
    lines: ['DTSTART:20261204T000000', 'DTEND:20261206T000000'],
    blocks: ['2026-12-04/2026-12-06'],
  },
  {
    says: 'a night whose midnight is the end of the event is taken',
    lines: ['DTSTART:20261204T230000', 'DTEND:20261205T000000'],
    blocks: ['2026-12-04/2026-12-05'],
  },
  {
    says: 'a night is not taken if the event ends a second before its midnight',
    lines: ['DTSTART:20261204T230000', 'DTEND:20261204T235959'],
  },
  {
    says: 'an event that begins at midnight does not take the night before',
    lines: ['DTSTART:20261205T000000', 'DTEND:20261205T110000'],
  },
  {
    says: 'a length of a time is exact',
    lines: ['DTSTART:20261204T150000', 'DURATION:PT9H'],
    blocks: ['2026-12-04/2026-12-05'],
  },
  {
    says: 'a length of a time that ends before midnight takes no night',
    lines: ['DTSTART:20261204T150000', 'DURATION:PT8H59M59S'],
  },
  {
    says: 'a wall clock counts as it is written, in whichever zone',
    lines: ['DTSTART;TZID=Asia/Tokyo:20261204T233000', 'DTEND;TZID=America/New_York:20261206T003000'],
    blocks: ['2026-12-04/2026-12-06'],
    country: 'DE',
  },
  {
    says: 'a zone that nobody knows is no error, with a colon and without quotes either',
    lines: [
      'DTSTART;TZID=(UTC+01:00) Nowhere; Berlin:20261204T150000',
      'DTEND;TZID="Custom: 1":20261206T110000',
    ],
    blocks: ['2026-12-04/2026-12-06'],
  },
  {
    says: 'times in UTC are those of the country if all of its zones agree from today on',
    lines: ['DTSTART:20261204T233000Z', 'DTEND:20261206T100000Z'],
    blocks: ['2026-12-05/2026-12-06'],
    country: 'DE',
  },
  {
    says: 'times in UTC stay in UTC if the zones of the country differ',
    lines: ['DTSTART:20261204T233000Z', 'DTEND:20261206T100000Z'],
    blocks: ['2026-12-04/2026-12-06'],
    country: 'ES',
  },
  {
    says: 'times in UTC stay in UTC if the country is unknown',
    lines: ['DTSTART:20261204T233000Z', 'DTEND:20261206T100000Z'],
    blocks: ['2026-12-04/2026-12-06'],
    country: 'Germany',
  },
  {
    says: 'a stay that has begun keeps its dates',
    lines: ['DTSTART;VALUE=DATE:20261120', 'DTEND;VALUE=DATE:20261202'],
    blocks: ['2026-11-20/2026-12-02'],
  },
  { says: 'a stay that ends today is over', lines: ['DTSTART:20261120', 'DTEND:20261201'] },
  {
    says: 'the 1,095th day ahead counts',
    lines: ['DTSTART:20291130', 'DTEND:20291225'],
    blocks: ['2029-11-30/2029-12-25'],
  },
  { says: 'the day after it does not', lines: ['DTSTART:20291201', 'DTEND:20291225'] },
  { says: 'a cancelled event blocks nothing', lines: ['DTSTART:20261204', 'STATUS:CANCELLED'] },
  { says: 'a transparent event blocks nothing', lines: ['DTSTART:20261204', 'TRANSP:transparent'] },
  {
    says: 'a cancelled event is not listed if its dates are wrong',
    lines: ['DTSTART:2026', 'STATUS:CANCELLED'],
  },
  {
    says: 'a tentative event blocks',
    lines: ['DTSTART:20261204', 'STATUS:TENTATIVE', 'SUMMARY:Free'],
    blocks: ['2026-12-04/2026-12-05'],
  },
  { says: 'an event without a start', lines: ['DTEND:20261204'], skipped: 'no_dates' },
  { says: 'a day that does not exist', lines: ['DTSTART:20270229'], skipped: 'dates' },
  { says: 'an hour that does not exist', lines: ['DTSTART:20261204T240000'], skipped: 'dates' },
  { says: 'an empty start', lines: ['DTSTART:'], skipped: 'dates' },
  { says: 'an end before the start', lines: ['DTSTART:20261204', 'DTEND:20261203'], skipped: 'dates' },
  { says: 'a length below 0', lines: ['DTSTART:20261204', 'DURATION:-P1D'], skipped: 'dates' },
  { says: 'a length without a number', lines: ['DTSTART:20261204T100000', 'DURATION:PT'], skipped: 'dates' },
  { says: 'an end after the year 9999', lines: ['DTSTART:20261204', 'DURATION:P9999999D'], skipped: 'dates' },
  {
    says: 'the start of a part does not replace that of the event',
    lines: ['DTSTART:20261204', 'BEGIN:VALARM', 'DTSTART:20270101', 'DURATION:P9D', 'END:VALARM'],
    blocks: ['2026-12-04/2026-12-05'],
  },
  // Rules.
  {
    says: 'the 31st is left out in months without one',
    lines: ['DTSTART:20261231', 'RRULE:FREQ=MONTHLY;COUNT=4'],
    blocks: [
      '2026-12-31/2027-01-01',
      '2027-01-31/2027-02-01',
      '2027-03-31/2027-04-01',
      '2027-05-31/2027-06-01',
    ],
  },
  {
    says: 'a yearly rule on the 30th and several months leaves out February',
    lines: ['DTSTART:20261230', 'RRULE:FREQ=YEARLY;BYMONTH=1,2,3,12;COUNT=4'],
    blocks: [
      '2026-12-30/2026-12-31',
      '2027-01-30/2027-01-31',
      '2027-03-30/2027-03-31',
      '2027-12-30/2027-12-31',
    ],
  },
  {
    says: '29 February is in leap years only',
    lines: ['DTSTART:20240229', 'RRULE:FREQ=YEARLY'],
    blocks: ['2028-02-29/2028-03-01'],
  },
  {
    says: 'the last day of a month',
    lines: ['DTSTART:20261231', 'RRULE:FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3'],
    blocks: ['2026-12-31/2027-01-01', '2027-01-31/2027-02-01', '2027-02-28/2027-03-01'],
  },
  {
    says: 'the second last working day of a month',
    lines: ['DTSTART:20261230', 'RRULE:FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-2;COUNT=3'],
    blocks: ['2026-12-30/2026-12-31', '2027-01-28/2027-01-29', '2027-02-25/2027-02-26'],
  },
  {
    says: 'the twentieth Monday of a year',
    lines: ['DTSTART:20270517', 'RRULE:FREQ=YEARLY;BYDAY=20MO;COUNT=2'],
    blocks: ['2027-05-17/2027-05-18', '2028-05-15/2028-05-16'],
  },
  {
    says: 'a week of a year on the weekday of the start',
    lines: ['DTSTART:20270517', 'RRULE:FREQ=YEARLY;BYWEEKNO=20;COUNT=2'],
    blocks: ['2027-05-17/2027-05-18', '2028-05-15/2028-05-16'],
  },
  {
    says: 'which weeks count depends on the day on which a week begins (Monday)',
    lines: ['DTSTART:20261201', 'RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO'],
    blocks: [
      '2026-12-01/2026-12-02',
      '2026-12-06/2026-12-07',
      '2026-12-15/2026-12-16',
      '2026-12-20/2026-12-21',
    ],
  },
  {
    says: 'which weeks count depends on the day on which a week begins (Sunday)',
    lines: ['DTSTART:20261201', 'RRULE:FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU'],
    blocks: [
      '2026-12-01/2026-12-02',
      '2026-12-13/2026-12-14',
      '2026-12-15/2026-12-16',
      '2026-12-27/2026-12-28',
    ],
  },
  {
    says: 'a rule is counted from its start, long before today',
    lines: ['DTSTART:20261125', 'RRULE:FREQ=DAILY;COUNT=8'],
    blocks: ['2026-12-01/2026-12-02', '2026-12-02/2026-12-03'],
  },
  {
    says: 'an occurrence that has begun still blocks',
    lines: ['DTSTART:20261106', 'DTEND:20261109', 'RRULE:FREQ=WEEKLY;INTERVAL=3;COUNT=3'],
    blocks: ['2026-12-18/2026-12-21'],
  },
  {
    says: 'a date as the end of a rule is its last day',
    lines: ['DTSTART:20261204T200000', 'DTEND:20261205T090000', 'RRULE:FREQ=DAILY;UNTIL=20261205'],
    blocks: ['2026-12-04/2026-12-05', '2026-12-05/2026-12-06'],
  },
  {
    says: 'the end of a rule in UTC is compared with the clock of the zone',
    lines: [
      'DTSTART;TZID=America/New_York:20261204T200000',
      'DTEND;TZID=America/New_York:20261205T090000',
      'RRULE:FREQ=DAILY;UNTIL=20261206T010000Z',
    ],
    blocks: ['2026-12-04/2026-12-05', '2026-12-05/2026-12-06'],
  },
  {
    // 22:30 UTC is 23:30 before the clocks change, and 00:30 of the next day after it.
    says: 'a rule in UTC repeats in UTC',
    lines: ['DTSTART:20270327T223000Z', 'DTEND:20270329T090000Z', 'RRULE:FREQ=DAILY;COUNT=2'],
    blocks: ['2027-03-27/2027-03-29', '2027-03-29/2027-03-30'],
    country: 'DE',
  },
  {
    says: 'added and excluded dates',
    lines: [
      'DTSTART:20261204',
      'RRULE:FREQ=DAILY;COUNT=3',
      'EXDATE:20261205',
      'RDATE:20261210,20261212',
      'EXDATE:',
    ],
    blocks: [
      '2026-12-04/2026-12-05',
      '2026-12-06/2026-12-07',
      '2026-12-10/2026-12-11',
      '2026-12-12/2026-12-13',
    ],
  },
  {
    says: 'added periods have their own length',
    lines: [
      'DTSTART:20261204T200000',
      'DTEND:20261205T090000',
      'RDATE;VALUE=PERIOD:20261210T200000/20261213T090000,20261220T200000/P2D',
    ],
    blocks: ['2026-12-04/2026-12-05', '2026-12-10/2026-12-13', '2026-12-20/2026-12-22'],
  },
  {
    says: 'an excluded time in UTC is that of the zone',
    lines: [
      'DTSTART;TZID=Asia/Tokyo:20261204T200000',
      'DTEND;TZID=Asia/Tokyo:20261205T090000',
      'RRULE:FREQ=DAILY;COUNT=3',
      'EXDATE:20261205T110000Z',
    ],
    blocks: ['2026-12-04/2026-12-05', '2026-12-06/2026-12-07'],
  },
  { says: 'an hourly rule', lines: ['DTSTART:20261204', 'RRULE:FREQ=HOURLY'], skipped: 'frequency' },
  {
    says: 'a rule twice a day',
    lines: ['DTSTART:20261204T100000', 'RRULE:FREQ=DAILY;BYHOUR=9,21'],
    skipped: 'frequency',
  },
  {
    says: 'an unknown frequency',
    lines: ['DTSTART:20261204', 'RRULE:FREQ=FORTNIGHTLY'],
    skipped: 'frequency',
  },
  { says: 'a rule without a frequency', lines: ['DTSTART:20261204', 'RRULE:COUNT=3'], skipped: 'frequency' },
  {
    says: 'an interval of 0',
    lines: ['DTSTART:20261204', 'RRULE:FREQ=DAILY;INTERVAL=0'],
    skipped: 'frequency',
  },
  {
    says: 'a rule whose end cannot be read',
    lines: ['DTSTART:20261204', 'RRULE:FREQ=DAILY;UNTIL=soon'],
    skipped: 'dates',
  },
  {
    says: 'an excluded date that cannot be read',
    lines: ['DTSTART:20261204', 'EXDATE:soon'],
    skipped: 'dates',
  },
]

test.each(cases)('$says', async ({ lines, blocks = [], skipped, country = null }) => {
  const outcome = await readText(calendarOf(eventOf(...lines)), { country })
  expect({ kind: outcome.kind, blocks: outcome.blocks, skipped: outcome.skipped }).toEqual({
    kind: 'calendar',
    blocks,
    skipped: skipped ? [{ line: 3, reason: skipped }] : [],
  })
})

const series = eventOf('UID:a', 'DTSTART:20261204', 'RRULE:FREQ=DAILY;COUNT=4')
const nightOf = (day: number) =>
  `2026-12-${String(day).padStart(2, '0')}/2026-12-${String(day + 1).padStart(2, '0')}`

const replacements = [
  {
    says: 'an occurrence is replaced by another date',
    by: eventOf('UID:a', 'RECURRENCE-ID:20261205', 'DTSTART:20261220'),
    blocks: [nightOf(4), nightOf(6), nightOf(7), nightOf(20)],
  },
  {
    says: 'a cancelled occurrence is free',
    by: eventOf('UID:a', 'RECURRENCE-ID:20261205', 'DTSTART:20261205', 'STATUS:CANCELLED'),
    blocks: [nightOf(4), nightOf(6), nightOf(7)],
  },
  {
    says: 'an occurrence of another event replaces nothing',
    by: eventOf('UID:b', 'RECURRENCE-ID:20261205', 'DTSTART:20261220'),
    blocks: [nightOf(4), nightOf(5), nightOf(6), nightOf(7), nightOf(20)],
  },
  {
    says: 'all later occurrences move with the one that is replaced',
    by: eventOf('UID:a', 'RECURRENCE-ID;RANGE=THISANDFUTURE:20261206', 'DTSTART:20261216', 'DURATION:P2D'),
    blocks: [nightOf(4), nightOf(5), '2026-12-16/2026-12-18', '2026-12-17/2026-12-19'],
  },
  {
    says: 'all later occurrences are cancelled',
    by: eventOf('UID:a', 'RECURRENCE-ID;RANGE=THISANDFUTURE:20261206', 'STATUS:CANCELLED'),
    blocks: [nightOf(4), nightOf(5)],
  },
]

test.each(replacements)('$says, in whichever order the file has them', async ({ by, blocks }) => {
  for (const components of [
    [series, by],
    [by, series],
  ]) {
    const outcome = await readText(calendarOf(...components))
    expect(outcome.blocks).toEqual(blocks)
  }
})

test('an event that replaces an occurrence but cannot be read leaves the occurrence as it is', async () => {
  const broken = eventOf('UID:a', 'RECURRENCE-ID:20261205', 'DTSTART:20261220', 'DTEND:20261219')
  const outcome = await readText(calendarOf(series, broken))
  expect(outcome.blocks).toEqual([nightOf(4), nightOf(5), nightOf(6), nightOf(7)])
  expect(outcome.skipped).toEqual([{ line: 8, reason: 'dates' }])
})

test('each event counts if several with one UID replace occurrences of an event that is not in the file', async () => {
  const busy = [4, 6, 8].map((day) => {
    return eventOf('UID:a', `RECURRENCE-ID:2026120${day}`, `DTSTART:2026120${day}`, 'SUMMARY:Busy')
  })
  const outcome = await readText(calendarOf(...busy))
  expect(outcome.blocks).toEqual([nightOf(4), nightOf(6), nightOf(8)])
})

test('METHOD:CANCEL cancels the events of its own calendar only', async () => {
  const file = calendarOf(series) + calendarOf('METHOD:CANCEL', series, eventOf('DTSTART:20261224'))
  const outcome = await readText(file)
  expect(outcome.blocks).toEqual([nightOf(4), nightOf(5), nightOf(6), nightOf(7)])
})

test('the zone of the file counts before that of the country, and an unknown one does not count', async () => {
  const event = eventOf('DTSTART:20261204T233000Z', 'DTEND:20261206T100000Z')
  const known = await readText(calendarOf('X-WR-TIMEZONE:America/New_York', event), { country: 'DE' })
  const unknown = await readText(calendarOf('X-WR-TIMEZONE:Nowhere', event), { country: 'DE' })
  expect({ known: known.blocks, unknown: unknown.blocks }).toEqual({
    known: ['2026-12-04/2026-12-06'],
    unknown: ['2026-12-05/2026-12-06'],
  })
})

test('tasks, alarms, zones and journals block nothing', async () => {
  const others = ['VTODO', 'VJOURNAL', 'VTIMEZONE', 'VAVAILABILITY', 'X-OTHER'].map((name) => {
    return [`BEGIN:${name}`, 'DTSTART:20261204', 'DTEND:20261208', `END:${name}`].join('\r\n')
  })
  const outcome = await readText(calendarOf(...others))
  expect(outcome).toMatchObject({ kind: 'calendar', blocks: [], skipped: [], events: { read: 0 } })
})

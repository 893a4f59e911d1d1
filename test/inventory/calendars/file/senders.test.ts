import { expect, test } from 'vitest'
import { readCalendarFile } from '../../../../src/inventory/calendars/file/read.ts'

/**
 * Files in the form in which senders write them, with invented content. What each blocks was worked out by hand from RFC
 * 5545 and decisions §31, not by running the code. It is 1 December 2026.
 */
const senders = [
  {
    name: 'airbnb',
    country: 'PT',
    blocks: ['2026-12-01/2026-12-03', '2026-12-04/2026-12-08', '2027-12-02/2028-12-01'],
    events: { read: 3, blocking: 3, skipped: 0 },
  },
  {
    name: 'booking-com',
    country: 'PT',
    blocks: ['2026-12-10/2026-12-13', '2026-12-13/2026-12-14'],
    events: { read: 2, blocking: 2, skipped: 0 },
  },
  {
    // October is over. A tentative stay blocks too.
    name: 'vrbo',
    country: 'FR',
    blocks: ['2026-12-20/2026-12-27', '2027-01-10/2027-01-12', '2027-02-01/2027-02-15'],
    events: { read: 4, blocking: 3, skipped: 0 },
  },
  {
    // The choir meets on 1, 15 and 22 January; the 8th is called off, the 15th became the 16th to the 18th. At 23:30 UTC
    // it is 23:30 in Lisbon in March, and 00:30 of the next day in July. The country's zone does not count.
    name: 'google',
    country: 'JP',
    blocks: [
      '2026-12-24/2026-12-27',
      '2027-01-01/2027-01-02',
      '2027-01-16/2027-01-18',
      '2027-01-22/2027-01-23',
      '2027-03-01/2027-03-03',
      '2027-07-02/2027-07-03',
    ],
    events: { read: 8, blocking: 5, skipped: 0 },
  },
  {
    // The last Sundays of the months until 28 February, 22:00 UTC, which is 23:00 in the zone that the file describes.
    name: 'outlook',
    country: 'DE',
    blocks: [
      '2026-12-02/2026-12-04',
      '2026-12-27/2026-12-28',
      '2027-01-31/2027-02-01',
      '2027-02-28/2027-03-01',
      '2027-03-10/2027-03-12',
    ],
    events: { read: 4, blocking: 3, skipped: 0 },
  },
  {
    name: 'guesty',
    country: null,
    blocks: [
      '2026-12-05/2026-12-09',
      '2026-12-09/2026-12-11',
      '2027-01-15/2027-01-16',
      '2027-01-20/2027-01-21',
    ],
    events: { read: 5, blocking: 4, skipped: 1 },
    skipped: [{ line: 33, reason: 'dates' }],
    refreshSeconds: 7200,
  },
  {
    name: 'smoobu',
    country: 'DE',
    blocks: ['2026-12-11/2026-12-14'],
    events: { read: 3, blocking: 1, skipped: 0 },
  },
  {
    // The zones of the United States differ, so times stay in UTC.
    name: 'tripadvisor',
    country: 'US',
    blocks: ['2026-12-18/2026-12-21', '2027-01-05/2027-01-07'],
    events: { read: 2, blocking: 2, skipped: 0 },
  },
  {
    // 16:00 UTC is 01:00 of the next day in Japan.
    name: 'tripadvisor',
    country: 'JP',
    blocks: ['2026-12-19/2026-12-21', '2027-01-05/2027-01-07'],
    events: { read: 2, blocking: 2, skipped: 0 },
  },
  {
    name: 'free-busy',
    country: null,
    blocks: [
      '2026-12-02/2026-12-04',
      '2026-12-10/2026-12-12',
      '2026-12-15/2026-12-16',
      '2026-12-20/2026-12-22',
    ],
    events: { read: 1, blocking: 1, skipped: 0 },
  },
]

test.each(senders)('a file as $name writes it blocks what its dates say ($country)', async (sender) => {
  const { name, country, blocks, events, skipped = [], refreshSeconds = null } = sender
  const bytes = await Bun.file(new URL(`../../../../fixtures/calendars/${name}.ics`, import.meta.url)).bytes()
  const outcome = await readCalendarFile([bytes], { today: '2026-12-01', country })
  const expected = blocks.map((block) => {
    const [start_date, end_date] = block.split('/')
    return { start_date, end_date }
  })
  expect(outcome).toEqual({
    kind: 'calendar',
    file: { blocks: expected, skipped, events, refreshSeconds },
  })
})

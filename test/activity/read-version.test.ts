import { expect, test } from 'vitest'
import { readVersion } from '../../src/activity/read-version.ts'

const now = new Date('2026-01-31T12:00:00Z')
const before = new Date('2026-01-31T11:00:00Z')
const justBefore = new Date('2026-01-31T11:59:59Z')
const future = new Date('2090-01-01T00:00:00Z')

test.each([
  { what: 'the last row of a page from the beginning', start: null, last: before, read: before },
  { what: 'the last row of a page after a version', start: before, last: justBefore, read: justBefore },
  { what: 'a last row that is ahead of the clock', start: before, last: future, read: future },
  { what: 'the start of a walk that found nothing', start: before, last: null, read: before },
  { what: 'nothing, if there was nothing from the beginning', start: null, last: null, read: null },
  {
    what: 'no later than the last second, if the start is in the future',
    start: future,
    last: null,
    read: justBefore,
  },
])('a page shows that its key has read up to $what', ({ start, last, read }) => {
  expect(readVersion({ start, last, now })).toEqual(read)
})

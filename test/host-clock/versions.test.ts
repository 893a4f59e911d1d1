import { expect, test } from 'vitest'
import { toVersion } from '../../src/host-clock/format.ts'
import { advanceHostClock, startHostClock, versionAt } from '../../src/host-clock/store.ts'
import { inTransaction } from '../../src/platform/mongo/turns/transactions.ts'
import { testApp } from '../support/app.ts'

const { db } = (await testApp()).live
const noon = Date.parse('2030-05-01T12:00:00Z') / 1000

let lastOwner = 900_000_000

/** Makes changes at 12:00:00.900 whose clock stands at the given seconds from noon; returns their places. */
async function advanceFrom(
  last: { bookings: number; messages: number },
  made: { changes: number; messages: number },
) {
  lastOwner += 1
  const ownerId = lastOwner
  await startHostClock(db, ownerId, { last: noon + last.bookings, messages_last: noon + last.messages })
  const now = new Date(noon * 1000 + 900)
  const tick = await inTransaction(db, `host/${ownerId}`, (session) =>
    advanceHostClock(db, session, ownerId, { now, ...made }),
  )
  const versionsFrom = (first: Date, count: number) =>
    Array.from({ length: count }, (_, index) => toVersion(versionAt(first, index)).slice(-8))
  return {
    bookings: versionsFrom(tick.firstVersion, made.changes),
    messages: versionsFrom(tick.firstMessageVersion, made.messages),
    firstSequence: tick.firstSequence,
  }
}

test.each([
  { is: 'an hour behind', last: -3600, first: '12:00:00', second: '12:00:01' },
  { is: 'a second behind', last: -1, first: '12:00:00', second: '12:00:01' },
  { is: 'in the current second', last: 0, first: '12:00:01', second: '12:00:02' },
  { is: 'a minute ahead', last: 60, first: '12:01:01', second: '12:01:02' },
])('a clock that is $is assigns $first to one change, and $second to the next', async (row) => {
  const { last, first, second } = row
  const from = { bookings: last, messages: 0 }
  expect(await advanceFrom(from, { changes: 1, messages: 0 })).toMatchObject({ bookings: [first] })
  expect(await advanceFrom(from, { changes: 2, messages: 0 })).toEqual({
    bookings: [first, second],
    messages: [],
    firstSequence: 1,
  })
})

test.each([
  { bookings: -60, messages: 60, made: { bookings: '12:00:00', messages: '12:01:01' } },
  { bookings: 60, messages: -60, made: { bookings: '12:01:01', messages: '12:00:00' } },
  { bookings: -60, messages: -60, made: { bookings: '12:00:00', messages: '12:00:00' } },
])('bookings and messages are counted apart: from $bookings s and $messages s', async (row) => {
  const { made, ...last } = row
  expect(await advanceFrom(last, { changes: 1, messages: 1 })).toMatchObject({
    bookings: [made.bookings],
    messages: [made.messages],
  })
})

import { expect, test } from 'vitest'
import { boundedRefresh, dueAfterFailure, dueAfterSuccess } from '../../../src/inventory/calendars/due.ts'

const now = new Date('2027-03-01T08:00:00Z')
const minutesUntil = (time: Date) => (time.getTime() - now.getTime()) / 60_000

const middle = 0.5

test('a calendar is read every 15 minutes, spread by up to a tenth', () => {
  const next = (spread: number) => minutesUntil(dueAfterSuccess(now, { refresh_seconds: null }, spread))
  expect([next(0), next(middle), next(1)]).toEqual([13.5, 15, 16.5])
})

test('a file can lengthen its interval to 6 hours, but never shorten it', () => {
  const asks = (seconds: number | null) =>
    minutesUntil(dueAfterSuccess(now, { refresh_seconds: boundedRefresh(seconds) }, middle))
  expect({ none: asks(null), minute: asks(60), hour: asks(3600), day: asks(86_400), none2: asks(0) }).toEqual(
    {
      none: 15,
      minute: 15,
      hour: 60,
      day: 360,
      none2: 15,
    },
  )
  expect(minutesUntil(dueAfterSuccess(now, { refresh_seconds: 6 * 3600 }, 1))).toBe(360)
})

test('after failures, a calendar is read after 15 and 30 minutes, an hour, and then every two hours', () => {
  const after = (failures: number, retryAfterSeconds: number | null = null) =>
    minutesUntil(dueAfterFailure(now, { failures, retryAfterSeconds }, middle))
  expect([1, 2, 3, 4, 5, 500].map((failures) => after(failures))).toEqual([15, 30, 60, 120, 120, 120])
  // A longer `Retry-After` counts, up to 6 hours.
  expect([after(1, 60), after(1, 3600), after(4, 3600), after(1, 10 ** 9)]).toEqual([15, 60, 120, 360])
})

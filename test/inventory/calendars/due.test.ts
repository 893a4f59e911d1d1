import { expect, test } from 'vitest'
import { boundedRefresh, dueAfterFailure, dueAfterSuccess } from '../../../src/inventory/calendars/due.ts'

const now = new Date('2027-03-01T08:00:00Z')
const minutesUntil = (time: Date) => (time.getTime() - now.getTime()) / 60_000

const middle = 0.5

test('a calendar is read every 15 minutes, spread by up to a tenth', () => {
  const next = (spread: number) => minutesUntil(dueAfterSuccess(now, { refresh_seconds: null }, spread))
  expect({ least: next(0), usual: next(middle), most: next(1) }).toEqual({
    least: 13.5,
    usual: 15,
    most: 16.5,
  })
})

test('a file can lengthen its interval to 6 hours, but never shorten it', () => {
  const asks = (seconds: number | null) =>
    minutesUntil(dueAfterSuccess(now, { refresh_seconds: boundedRefresh(seconds) }, middle))
  expect({
    nothing: asks(null),
    zero: asks(0),
    minute: asks(60),
    hour: asks(3600),
    day: asks(86_400),
  }).toEqual({ nothing: 15, zero: 15, minute: 15, hour: 60, day: 360 })
  // The spread does not lengthen it further.
  expect(minutesUntil(dueAfterSuccess(now, { refresh_seconds: 6 * 3600 }, 1))).toBe(360)
})

test('after failures, a calendar is read after 15 and 30 minutes, an hour, and then every two hours', () => {
  const after = (failures: number, retryAfterSeconds: number | null = null) =>
    minutesUntil(dueAfterFailure(now, { failures, retryAfterSeconds }, middle))
  expect({
    first: after(1),
    second: after(2),
    third: after(3),
    fourth: after(4),
    fifth: after(5),
    later: after(500),
  }).toEqual({ first: 15, second: 30, third: 60, fourth: 120, fifth: 120, later: 120 })
  // A longer `Retry-After` counts, up to 6 hours.
  expect({
    shorter: after(1, 60),
    longer: after(1, 3600),
    shorterThanFourth: after(4, 3600),
    endless: after(1, 10 ** 9),
  }).toEqual({ shorter: 15, longer: 60, shorterThanFourth: 120, endless: 360 })
})

import { FormatRegistry } from '@sinclair/typebox'
import { isCalendarDate } from '../clock.ts'

const dateTime = /^(\d{4}-\d{2}-\d{2}) ([01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** A version as the contract writes it: `Y-m-d H:i:s`, in UTC. */
export function toVersion(moment: Date): string {
  return moment.toISOString().slice(0, 19).replace('T', ' ')
}

/** True for `Y-m-d` and `Y-m-d H:i:s` of a real date; ISO `T` forms are none. */
export function isFeedTime(text: string): boolean {
  return isCalendarDate(dateTime.exec(text)?.[1] ?? text)
}

FormatRegistry.Set('feed-time', isFeedTime)

/** The moment of a feed time; a date alone means that day's `00:00:00`. */
export function parseFeedTime(text: string): Date {
  return new Date(`${text.length === 10 ? `${text} 00:00:00` : text}Z`.replace(' ', 'T'))
}

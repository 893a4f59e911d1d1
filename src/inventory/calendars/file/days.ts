/**
 * Days as whole numbers, counted from 1 January 1970, and times of day as seconds. Nights are calendar days, so nothing
 * here knows a time zone.
 */

export const daySeconds = 86_400

/** 31 December 9999: a later day cannot be written `YYYY-MM-DD`. */
export const lastDay = dayNumber(9999, 12, 31)

/** Returns a day's number. The month is from 1 to 12; a day beyond the month's end runs into the next month. */
export function dayNumber(year: number, month: number, day: number): number {
  // Counts years from March, so that the leap day is the last of its year.
  const shifted = month > 2 ? year : year - 1
  const monthFromMarch = (month + 9) % 12
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1
  const leapDays = Math.floor(shifted / 4) - Math.floor(shifted / 100) + Math.floor(shifted / 400)
  return shifted * 365 + leapDays + dayOfYear - 719_468
}

export interface CalendarDay {
  year: number
  /** From 1 to 12. */
  month: number
  day: number
}

export function calendarDay(number: number): CalendarDay {
  const shifted = number + 719_468
  const era = Math.floor(shifted / 146_097)
  const dayOfEra = shifted - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return { year, month, day: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1 }
}

export function daysInMonth(year: number, month: number): number {
  if (month === 12) return 31
  return dayNumber(year, month + 1, 1) - dayNumber(year, month, 1)
}

/** Returns the day of the week, from 0 (Monday) to 6. */
export function weekday(number: number): number {
  return (((number + 3) % 7) + 7) % 7
}

/** Returns the number of a day written `YYYY-MM-DD`. */
export function numberOf(day: string): number {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  return dayNumber(year, month, date)
}

/** Writes a day as `YYYY-MM-DD`. */
export function textOf(number: number): string {
  const { year, month, day } = calendarDay(Math.min(number, lastDay))
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0')
}

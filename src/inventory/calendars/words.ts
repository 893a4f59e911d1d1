/** What a calendar's entry says of it (decisions §31). */
export const calendarStatuses = ['waiting', 'ok', 'holding', 'failing'] as const
export type CalendarStatus = (typeof calendarStatuses)[number]

/** Why the last attempt failed; `limit` if the calendar is never read because its host has too many. */
export const calendarErrors = [
  'address',
  'dns',
  'tls',
  'refused',
  'timeout',
  'status',
  'redirect',
  'too_large',
  'not_a_calendar',
  'limit',
] as const
export type CalendarError = (typeof calendarErrors)[number]

/** Why an event of a file was skipped. */
export const skipReasons = ['no_dates', 'dates', 'frequency', 'too_many'] as const
export type SkipReason = (typeof skipReasons)[number]

import { type Static, Type } from '@sinclair/typebox'
import { pageQuery } from '../../http/input/pagination.ts'
import {
  idInQuery,
  nullable,
  oneOf,
  optional,
  optionalIdInBody,
  output,
  requestObject,
  responseObject,
  text,
  withTitle,
} from '../../http/input/schema/fields.ts'
import { calendarErrors, calendarStatuses, skipReasons } from '../../inventory/calendars/words.ts'

export const defaultPerPage = 100

/** Query parameters of `GET …/calendars`. */
export const CalendarsQuery = requestObject({
  ...pageQuery(defaultPerPage, 500),
  listing_id: idInQuery('Only the rooms of this listing', '2001'),
  status: Type.Optional(
    Type.Array(oneOf(calendarStatuses, 'Status of a calendar'), {
      maxItems: 100,
      namesElements: false,
      description: 'Statuses to include; repeated, or separated by commas',
      example: ['failing'],
    }),
  ),
})

const entryFields = {
  listing_id: output.integer('Id of the listing', 'id'),
  room_type_id: output.integer('Id of the room type', 'id'),
  room_id: output.integer('Id of the room', 'id'),
  url: output.text("Address of the calendar, as it was sent in the room's `availability.ical`"),
  status: output.literal(
    '`waiting` if this address has not been read yet, `ok` after a good reading, `holding` after a good reading that would free so many nights that nothing is freed for now, `failing` if the last attempt failed; the blocks stay in every status',
    ...calendarStatuses,
  ),
  error: output.textOrNull(
    `Why the last attempt failed (${calendarErrors.map((error) => `\`${error}\``).join(', ')}; \`limit\` if the host has too many calendars), otherwise null`,
  ),
  response_status: output.integerOrNull(
    'HTTP status of the last attempt; null if there was no response',
    'count',
  ),
  read_at: output.timestampOrNull('Last good reading of this address; null if there was none'),
  changed_at: output.timestampOrNull('Last reading that blocked or freed a night; null if there was none'),
  attempted_at: output.timestampOrNull('Last attempt to read this address; null if there was none'),
  next_read_at: output.timestampOrNull(
    'Next attempt; null if there is none, as in the sandbox, where a calendar is read only when you ask for it',
  ),
  held_until: output.timestampOrNull(
    'Time from which a reading takes the file as it is, if every reading until then would again free so many nights; null if nothing is held',
  ),
  events: nullable(
    responseObject({
      read: output.integer('Number of events in the file', 'count'),
      blocking: output.integer('Number of events that block a night', 'count'),
      skipped: output.integer('Number of events that could not be read', 'count'),
    }),
    { description: 'Events of the last good reading; null if there was none' },
  ),
  nights: output.integer(
    'Number of nights from today on that the calendar blocks, those of your own bookings included',
    'count',
  ),
  conflicts: output.list(
    'First nights, at most 20, on which the room type had more bookings and blocks than rooms at the last good reading',
    output.date('Date on which the night begins'),
  ),
}

/** One entry of `GET …/calendars`. */
export const CalendarEntry = withTitle('CalendarEntry', responseObject(entryFields))
export type CalendarEntry = Static<typeof CalendarEntry>

const rangeFields = {
  start_date: output.date('First night'),
  end_date: output.date('Day after the last night'),
}

const SkippedEvent = withTitle(
  'SkippedEvent',
  responseObject({
    line: output.integer("Number of the event's first line in the file, starting at 1", 'id'),
    reason: output.literal(
      '`no_dates` if it has none; `dates` if they cannot be read or the event ends before it begins; `frequency` for a repetition that is unknown or more frequent than daily; `too_many` for too many repetitions',
      ...skipReasons,
    ),
  }),
)

/** The response of `GET …/calendars/{room_id}`. */
export const Calendar = withTitle(
  'Calendar',
  responseObject({
    ...entryFields,
    blocks: output.list(
      'Ranges of nights that the calendar takes, by first night',
      withTitle(
        'CalendarBlock',
        responseObject({
          ...rangeFields,
          seen_at: output.timestamp('Time of the reading that showed the range first'),
          booking_id: output.integerOrNull(
            'Your booking that this range is, so that it is counted once; null if it is another stay',
            'id',
          ),
        }),
      ),
    ),
    skipped: output.list('First events, at most 20, that the last good reading could not read', SkippedEvent),
  }),
)
export type Calendar = Static<typeof Calendar>

/** Body of `POST …/calendars/{room_id}/read`. */
export const CalendarRead = withTitle(
  'CalendarRead',
  requestObject({
    accept: optional(
      Type.Boolean(),
      'True to take the file as it is, even if it frees many nights; absent or null means false',
    ),
  }),
)

/** Maximum size of the text of a file to check, in bytes. */
export const maxCheckedBytes = 1024 * 1024

/** Body of `POST …/calendars/check`. */
export const CalendarCheck = withTitle(
  'CalendarCheck',
  requestObject({
    text: text(maxCheckedBytes, {
      whenBlank: 'invalid',
      description: 'Content of an iCalendar file, at most 1 MiB',
    }),
    room_id: optionalIdInBody(
      'Id of a room whose listing gives the time zone for times in UTC, whether or not the room has a calendar; UTC if absent',
    ),
  }),
)
export type CalendarCheck = Static<typeof CalendarCheck>

/** The response of `POST …/calendars/check`. */
export const CheckedCalendar = withTitle(
  'CheckedCalendar',
  responseObject({
    blocks: output.list(
      'Ranges of nights that the file would block, by first night',
      withTitle('NightRange', responseObject(rangeFields)),
    ),
    skipped: output.list('Events that could not be read', SkippedEvent),
    events: responseObject(
      {
        read: output.integer('Number of events in the file', 'count'),
        blocking: output.integer('Number of events that block a night', 'count'),
        skipped: output.integer('Number of events that could not be read', 'count'),
      },
      'Numbers of events',
    ),
  }),
)
export type CheckedCalendar = Static<typeof CheckedCalendar>

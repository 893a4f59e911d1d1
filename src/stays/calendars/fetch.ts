import { toDay } from '../../core/clock.ts'
import type { AppContext } from '../../http/context.ts'
import { userAgentOf } from '../../http/user-agent.ts'
import { readAddress } from '../../inventory/calendars/address.ts'
import { type CalendarFile, readCalendarFile } from '../../inventory/calendars/file/read.ts'
import type { StoredCalendar } from '../../inventory/calendars/model.ts'
import type { CalendarError } from '../../inventory/calendars/words.ts'
import { type FileAnswer, type FileRequest, fetchFile } from '../../platform/outgoing/file.ts'
import { toCountryCode } from '../bookings/country.ts'

/** Time limit of a reading, without the waiting for turns at an origin. */
export const fetchMilliseconds = 20_000
const maxBytes = 2 * 1024 * 1024
const maxRedirects = 3
/** The whole file is asked for once in this time, because some servers answer 304 for ever. */
const unconditionalMilliseconds = 24 * 3_600_000

/** What an attempt to read a calendar has come to (decisions §31). */
export type Attempt = GoodAttempt | FailedAttempt

export interface GoodAttempt {
  kind: 'good'
  responseStatus: number
  /** Null if the file is as it was at the last good reading. */
  file: CalendarFile | null
  etag: string | null
  lastModified: string | null
}

export interface FailedAttempt {
  kind: 'failed'
  error: CalendarError
  /** Null without a response. */
  responseStatus: number | null
  retryAfterSeconds: number | null
}

type FetchedCalendar = Pick<StoredCalendar, 'owner_id' | 'url' | 'etag' | 'last_modified' | 'full_read_at'>

/** How a file is fetched, apart from the calendar. */
export interface Fetching {
  /** The country of the room's listing as it was sent; null if there is none. */
  country: string | null
  takeTurn: NonNullable<FileRequest['takeTurn']>
}

/**
 * Fetches a calendar's file and reads it. Never throws because of what a server does. Nothing of the file's texts is kept,
 * and nothing but the outcome's word leaves this function, because the address is a secret in many cases.
 */
export async function attemptReading(
  { clock, config }: Pick<AppContext, 'clock' | 'config'>,
  calendar: FetchedCalendar,
  { country, takeTurn }: Fetching,
): Promise<Attempt> {
  const url = readAddress(calendar.url)
  if (url === null) return { kind: 'failed', error: 'address', responseStatus: null, retryAfterSeconds: null }
  const now = clock(calendar.owner_id)
  const conditions = conditionsOf(calendar, now)
  const answer = await fetchFile({
    url,
    headers: {
      accept: 'text/calendar',
      'user-agent': userAgentOf(config),
      ...conditions,
    },
    allowsPrivate: config.webhooksAllowPrivate,
    maxBytes,
    timeoutMilliseconds: fetchMilliseconds,
    maxRedirects,
    takeTurn,
  })
  const place = { today: toDay(now), country: toCountryCode(country) }
  return toAttempt(answer, { place, isConditional: Object.keys(conditions).length > 0, calendar })
}

/** Returns the headers that ask for the file only if it has changed; none once in 24 hours. */
function conditionsOf(
  { etag, last_modified, full_read_at }: FetchedCalendar,
  now: Date,
): Record<string, string> {
  const isFullReadDue =
    full_read_at === null || now.getTime() - full_read_at.getTime() >= unconditionalMilliseconds
  if (isFullReadDue) return {}
  return {
    ...(etag === null ? {} : { 'if-none-match': etag }),
    ...(last_modified === null ? {} : { 'if-modified-since': last_modified }),
  }
}

/** What a response is judged by. */
interface Asked {
  place: { today: string; country: string | null }
  isConditional: boolean
  calendar: FetchedCalendar
}

async function toAttempt(answer: FileAnswer, { place, isConditional, calendar }: Asked): Promise<Attempt> {
  const { status, retryAfterSeconds } = answer
  const failed = (error: CalendarError): FailedAttempt => ({
    kind: 'failed',
    error,
    responseStatus: status,
    retryAfterSeconds,
  })
  if (answer.kind === 'failed') return failed(answer.error)
  if (answer.status === 304 && isConditional)
    return {
      kind: 'good',
      responseStatus: 304,
      file: null,
      etag: calendar.etag,
      lastModified: calendar.last_modified,
    }
  if (answer.status < 200 || answer.status >= 300) return failed('status')
  const read = await readCalendarFile(answer.content.pieces(), place)
  if (read.kind !== 'calendar') return failed(read.kind)
  return {
    kind: 'good',
    responseStatus: answer.status,
    file: read.file,
    etag: answer.etag,
    lastModified: answer.lastModified,
  }
}

import { useCallback, useState } from 'preact/hooks'
import type { CalendarError } from '../../../inventory/calendars/words.ts'
import type { Calendar, CalendarEntry } from '../../../stays/calendars/schema.ts'
import { type Api, type ApiError, type Environment, toApiError } from './api.ts'
import { showCount, showMoment, showTime, showWait } from './format.ts'
import { type LoadOptions, useLoaded } from './hooks.ts'
import { Pages } from './lists.tsx'
import { DocsLink, EmptyState, LoadedContent } from './parts.tsx'

const path = '/integrations/provider_one/calendars'
const guide = '/guide/calendars'
/** Largest page of the route. */
const shown = 500

interface Connection {
  api: Api
  environment: Environment
  /** True if the key may have a calendar read. */
  mayRead: boolean
}

/** Shows the calendars of rooms, which are loaded only when the partner asks to see them. */
export function Calendars(connection: Connection) {
  const [isOpen, setOpen] = useState(false)
  if (isOpen) return <LoadedCalendars {...connection} />
  return (
    <button type="button" onClick={() => setOpen(true)}>
      Show the calendars
    </button>
  )
}

interface Found {
  calendars: CalendarEntry[]
  hasMore: boolean
}

function LoadedCalendars(connection: Connection) {
  const { api, environment } = connection
  const load = useCallback(
    async (turn: LoadOptions): Promise<Found> => {
      const query = { per_page: String(shown) }
      const { data, meta } = await api.get<Pick<Found, 'calendars'>>(path, { environment, query, ...turn })
      const calendars = data.calendars.toSorted((one, other) => urgencyOf(one) - urgencyOf(other))
      return { calendars, hasMore: (meta.pagination?.last_page ?? 1) > 1 }
    },
    [api, environment],
  )
  const loaded = useLoaded(load)
  return (
    <LoadedContent loaded={loaded} retry={loaded.reload}>
      {({ calendars, hasMore }) =>
        calendars.length === 0 ? (
          <EmptyState>
            No calendars.{' '}
            <DocsLink to={`${guide}#set-the-address`}>Set the address of a room's calendar</DocsLink>, and
            nights that are sold elsewhere are not sold here again.
          </EmptyState>
        ) : (
          <>
            {hasMore && <p class="note">These are the first {showCount(shown)} calendars.</p>}
            <Pages rows={calendars}>
              {(page) => (
                <ul class="requests">
                  {page.map((row) => (
                    <li key={row.room_id}>
                      <CalendarDetails row={row} {...connection} />
                    </li>
                  ))}
                </ul>
              )}
            </Pages>
          </>
        )
      }
    </LoadedContent>
  )
}

const urgency = { failing: 1, holding: 2, waiting: 3, ok: 4 }

/** What needs somebody is first. */
function urgencyOf({ status, conflicts }: CalendarEntry): number {
  return conflicts.length > 0 ? 0 : urgency[status]
}

/** Shows one calendar; its details are shown when it is expanded. */
function CalendarDetails({ row, api, environment, mayRead }: Connection & { row: CalendarEntry }) {
  const [read, setRead] = useState<CalendarEntry | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const [isReading, setReading] = useState(false)
  const entry = read !== null && isNewer(read, row) ? read : row
  const readNow = async (body: { accept?: boolean }) => {
    setReading(true)
    setError(null)
    try {
      const asking = { environment, body }
      const answer = await api.send<{ calendar: Calendar }>('POST', `${path}/${row.room_id}/read`, asking)
      setRead(answer.data.calendar)
    } catch (thrown) {
      setError(toApiError(thrown))
    }
    setReading(false)
  }
  return (
    <details class="request">
      <summary>
        <span>Room {entry.room_id}</span> <span class={`badge ${badges[entry.status]}`}>{entry.status}</span>
        {entry.conflicts.length > 0 && <span class="badge bad">conflicts</span>}
        <span class="note">{describeState(entry, environment)}</span>
      </summary>
      <dl class="facts small">
        <dt>Listing</dt>
        <dd>{entry.listing_id}</dd>
        <dt>Calendar at</dt>
        <dd>{originOf(entry.url)}</dd>
        <dt>Blocked nights</dt>
        <dd>{showCount(entry.nights)} from today on</dd>
        <dt>Conflicts</dt>
        <dd>
          {entry.conflicts.length === 0
            ? 'none'
            : `more bookings and blocks than rooms on ${entry.conflicts.join(', ')}`}
        </dd>
        <dt>Events</dt>
        <dd>{describeEvents(entry)}</dd>
        <dt>Next reading</dt>
        <dd>{describeNext(entry, environment)}</dd>
      </dl>
      {(entry.status === 'failing' || entry.status === 'holding') && (
        <p>
          <DocsLink to={`${guide}#watch`}>What to do about it</DocsLink>
        </p>
      )}
      {mayRead && (
        <p class="search">
          <button type="button" disabled={isReading} onClick={() => readNow({})}>
            Read now
          </button>
          {entry.status === 'holding' && (
            <button type="button" disabled={isReading} onClick={() => readNow({ accept: true })}>
              Take the file as it is
            </button>
          )}
        </p>
      )}
      <div aria-live="polite">
        {isReading && <p class="loading">Reading…</p>}
        {!isReading && read !== null && error === null && (
          <p>
            {entry.status}: {describeState(entry, environment)}.
          </p>
        )}
        {error && <p class="problem">{error.message}</p>}
      </div>
    </details>
  )
}

const badges = { waiting: '', ok: 'ok', holding: 'warning', failing: 'failing' }

/** True if a reading is not older than what the list says about the same address. */
function isNewer(read: CalendarEntry, listed: CalendarEntry): boolean {
  return read.url === listed.url && (read.attempted_at ?? '') >= (listed.attempted_at ?? '')
}

/** Returns the origin of an address: the rest is a secret in many cases (decisions §31). */
function originOf(url: string): string {
  if (!URL.canParse(url)) return 'an address that cannot be read'
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

const errors: Record<string, string> = {
  address: 'the address is private, or not one that may be read',
  dns: 'the name of the server is not known',
  tls: 'the certificate of the server is not valid',
  refused: 'the server could not be reached',
  timeout: 'the server took too long',
  status: 'the server refused the request',
  redirect: 'the server redirects too often, or to where it may not',
  too_large: 'the file is too large',
  not_a_calendar: 'not a calendar',
  limit: 'you have more calendars than are read',
} satisfies Record<CalendarError, string>

/** Returns what the badge does not say. */
function describeState(entry: CalendarEntry, environment: Environment): string {
  const { status, error, read_at, held_until } = entry
  const lastRead = read_at === null ? 'never read' : `read ${showMoment(read_at, environment)}`
  if (status === 'failing') return `${describeError(entry)}; ${read_at === null ? '' : 'last '}${lastRead}`
  if (status === 'holding' && held_until !== null)
    return `${lastRead}; so many nights are gone that none is freed before ${showTime(held_until)}`
  if (error !== null) return describeError(entry)
  return status === 'waiting' ? 'not read yet' : lastRead
}

function describeError({ error, response_status }: CalendarEntry): string {
  if (error === 'status' && response_status !== null) return `the server responded ${response_status}`
  return error === null ? '' : (errors[error] ?? error)
}

function describeEvents({ events }: CalendarEntry): string {
  if (events === null) return 'none read yet'
  const { read, blocking, skipped } = events
  const rest = skipped > 0 ? `, ${showCount(skipped)} could not be read` : ''
  return `${showCount(read)}, of which ${showCount(blocking)} block a night${rest}`
}

function describeNext({ next_read_at, error }: CalendarEntry, environment: Environment): string {
  if (environment === 'sandbox') return 'when you ask for it, because this is the sandbox'
  if (next_read_at !== null) return showWait(next_read_at)
  return error === 'limit' ? 'none' : 'none while the listing is inactive'
}

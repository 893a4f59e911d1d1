import { useEffect, useState } from 'preact/hooks'
import type { FeedItem } from '../../../changes/feed/schema.ts'
import { type Api, type Environment, toApiError } from './api.ts'
import { showAge, showTime, versionToTimestamp } from './format.ts'
import { sleep } from './gate.ts'
import { type Loaded, useVisible } from './hooks.ts'
import { type Column, Table } from './lists.tsx'
import { DocsLink, EmptyState, LoadedContent } from './parts.tsx'

const path = '/integrations/provider_one/bookings'
const shownChanges = 50
/** Minimum interval between polls while changes keep arriving. */
const betweenWaitsMilliseconds = 20_000
/** Delay before the first poll. A partner who is still choosing what to view does not need new changes yet. */
const beforeFirstWaitMilliseconds = 5000
const afterFailureMilliseconds = 30_000

/** Shows the latest changes in the booking feed, and new changes as they arrive. */
export function Changes({ api, environment }: { api: Api; environment: Environment }) {
  const loaded = useChanges(api, environment)
  return (
    <LoadedContent loaded={loaded}>
      {(rows) =>
        rows.length === 0 ? (
          <EmptyState>
            No bookings yet. <DocsLink to="/guide/bookings#book">Make one</DocsLink>
            {environment === 'live' && ', or switch to the sandbox, which has some'}.
          </EmptyState>
        ) : (
          <div aria-live="polite">
            <Table
              label="Latest changes"
              columns={columns}
              rows={rows}
              keyOf={({ booking_id }) => booking_id}
            />
          </div>
        )
      }
    </LoadedContent>
  )
}

function useChanges(api: Api, environment: Environment): Loaded<FeedItem[]> {
  const isVisible = useVisible()
  const [loaded, setLoaded] = useState<Loaded<FeedItem[]>>({ data: null, error: null })
  useEffect(() => {
    if (!isVisible) return
    const controller = new AbortController()
    follow(api, environment, controller.signal, setLoaded).catch(() => {})
    return () => controller.abort()
  }, [api, environment, isVisible])
  return loaded
}

/** Reads the latest changes and then polls for newer changes until aborted. */
async function follow(
  api: Api,
  environment: Environment,
  signal: AbortSignal,
  report: (loaded: Loaded<FeedItem[]>) => void,
): Promise<void> {
  const read = async (query: Record<string, string>) => {
    const asking = { environment, query, isBackground: query.wait !== undefined, signal }
    return api.get<{ Bookings: FeedItem[] }>(path, asking)
  }
  let rows: FeedItem[] | null = null
  for (;;) {
    const startedAt = Date.now()
    const isFirst = rows === null
    try {
      const newer: FeedItem[] =
        rows === null ? await readLatest(read) : await readNewer(read, rows[0]?.version)
      rows = latest([...newer.reverse(), ...(rows ?? [])])
      report({ data: rows, error: null })
      let pause = newer.length > 0 ? betweenWaitsMilliseconds : 0
      if (isFirst) pause = beforeFirstWaitMilliseconds
      await sleep(Math.max(0, startedAt + pause - Date.now()), signal)
    } catch (error) {
      signal.throwIfAborted()
      report({
        data: rows,
        error: toApiError(error),
      })
      await sleep(afterFailureMilliseconds, signal)
    }
  }
}

type Read = (query: Record<string, string>) => Promise<{
  data: { Bookings: FeedItem[] }
  meta: { pagination?: { last_page?: number } }
}>

/** Reads the feed's last changes. The last page is rarely full, so the page before it supplies the rest. */
async function readLatest(read: Read): Promise<FeedItem[]> {
  const per_page = String(shownChanges)
  const pageOf = async (page: number) => (await read({ per_page, page: String(page) })).data.Bookings
  const first = await read({ per_page })
  const last = first.meta.pagination?.last_page ?? 1
  if (last === 1) return first.data.Bookings
  const latest = await pageOf(last)
  if (latest.length >= shownChanges) return latest
  const before = last === 2 ? first.data.Bookings : await pageOf(last - 1)
  return [...before, ...latest].slice(-shownChanges)
}

async function readNewer(read: Read, version: string | undefined): Promise<FeedItem[]> {
  const after = version === undefined ? {} : { updated_after: version }
  return (await read({ wait: '30', per_page: '100', ...after })).data.Bookings
}

/** Returns each booking's newest change, up to the number of changes that are shown. */
function latest(rows: FeedItem[]): FeedItem[] {
  const byBooking = new Map<number, FeedItem>()
  for (const row of rows) if (!byBooking.has(row.booking_id)) byBooking.set(row.booking_id, row)
  return [...byBooking.values()].slice(0, shownChanges)
}

const columns: [Column<FeedItem>, ...Column<FeedItem>[]] = [
  { name: 'Booking', cell: ({ booking_id }) => booking_id },
  { name: 'Status', cell: ({ status }) => <span class={`badge ${status}`}>{status}</span> },
  { name: 'Stay', cell: ({ checkin_at, checkout_at }) => `${checkin_at} – ${checkout_at}` },
  { name: 'Listing', cell: ({ listing_id }) => listing_id },
  { name: 'Changed', cell: ({ version }) => <ChangedAt at={versionToTimestamp(version)} /> },
]

function ChangedAt({ at }: { at: string }) {
  return (
    <time dateTime={at} title={showTime(at)}>
      {showAge(at)}
    </time>
  )
}

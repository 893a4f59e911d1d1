import { useEffect, useState } from 'preact/hooks'
import type { RequestView } from '../../../access/requests/schema.ts'
import { type Api, type ApiError, type Environment, toApiError } from './api.ts'
import type { Loaded, Turn } from './hooks.ts'
import { Nothing, Panel, Shown } from './parts.tsx'
import { RequestDetails } from './request-details.tsx'
import { Search } from './search.tsx'

/** The newest failures, and the cursor of older failures if there are any. */
export interface Failures {
  rows: RequestView[]
  next: string | null
}

/** Loads a page of failures from both environments. */
export async function loadFailures(api: Api, cursor: string | null, turn?: Turn): Promise<Failures> {
  const { data, meta } = await api.get<RequestView[]>('/requests', {
    query: { status: ['4xx', '5xx', 'unanswered'], per_page: '100', ...(cursor ? { cursor } : {}) },
    ...turn,
  })
  return { rows: data, next: meta.pagination?.next_cursor ?? null }
}

/** Lists failed requests, each expandable to show its errors, and finds any request by its id. */
export function FailuresPanel({ api, loaded, environment, retry }: FailuresProps) {
  return (
    <Panel id="failures" title="Failed requests" note="Kept for 7 days.">
      <Search api={api} />
      <Shown loaded={loaded} retry={retry}>
        {(failures) => <Failed key={environment} api={api} newest={failures} environment={environment} />}
      </Shown>
    </Panel>
  )
}

interface FailuresProps {
  api: Api
  loaded: Loaded<Failures>
  environment: Environment
  retry: () => void
}

function Failed({ api, newest, environment }: { api: Api; newest: Failures; environment: Environment }) {
  const [seen, setSeen] = useState(newest)
  const [error, setError] = useState<ApiError | null>(null)
  const [isReading, setReading] = useState(false)
  useEffect(() => setSeen((before) => withNewest(before, newest)), [newest])
  const rows = seen.rows.filter(({ sandbox }) => sandbox === (environment === 'sandbox'))
  const readOn = async () => {
    setReading(true)
    setError(null)
    try {
      const { rows: older, next } = await loadFailures(api, seen.next)
      setSeen((before) => ({ rows: unique([...before.rows, ...older]), next }))
    } catch (failure) {
      setError(toApiError(failure))
    }
    setReading(false)
  }
  return (
    <>
      {rows.length === 0 && (
        <NoFailures environment={environment} among={seen.next ? seen.rows.length : null} />
      )}
      <ul class="requests">
        {rows.map((row) => (
          <li key={row.id}>
            <RequestDetails row={row} />
          </li>
        ))}
      </ul>
      {error && (
        <p class="problem" role="alert">
          {error.message}
        </p>
      )}
      {seen.next && (
        <button type="button" onClick={readOn} disabled={isReading}>
          {isReading ? 'Loading…' : 'Show older ones'}
        </button>
      )}
    </>
  )
}

/** @param among number of failures searched so far; null if all have been searched */
function NoFailures({ environment, among }: { environment: Environment; among: number | null }) {
  const where = environment === 'sandbox' ? 'to the sandbox' : 'on live data'
  if (among === null) return <Nothing>No failed requests {where}.</Nothing>
  return (
    <Nothing>
      None of the last {among} failed requests was {where}.
    </Nothing>
  )
}

/** Adds the newest failures to the list, or replaces the list if some failures in between may be missing. */
function withNewest(seen: Failures, newest: Failures): Failures {
  const known = new Set(seen.rows.map(({ id }) => id))
  const isConnected = newest.next === null || newest.rows.some(({ id }) => known.has(id))
  return isConnected ? { rows: unique([...newest.rows, ...seen.rows]), next: seen.next } : newest
}

function unique(rows: RequestView[]): RequestView[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()]
}

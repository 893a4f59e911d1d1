import { useEffect, useRef, useState } from 'preact/hooks'
import type { RequestView } from '../../requests/schema.ts'
import { type Api, type ApiError, type Environment, toApiError } from './api.ts'
import { showAge, showTime } from './format.ts'
import { sleep } from './gate.ts'
import { guideFor } from './guide.ts'
import type { Loaded, Turn } from './hooks.ts'
import { DocsLink, Nothing, Panel, Shown } from './parts.tsx'

/** The newest failures, and where the older ones begin. */
export interface Failures {
  rows: RequestView[]
  next: string | null
}

/** A page of failures of both environments. */
export async function loadFailures(api: Api, cursor: string | null, turn?: Turn): Promise<Failures> {
  const { data, meta } = await api.get<RequestView[]>('/requests', {
    query: { status: ['4xx', '5xx'], per_page: '100', ...(cursor ? { cursor } : {}) },
    ...turn,
  })
  return { rows: data, next: meta.pagination?.next_cursor ?? null }
}

/** The requests that failed, each opening to its errors, and any request by its id. */
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

/** @param among how many failures were looked through, where there are more */
function NoFailures({ environment, among }: { environment: Environment; among: number | null }) {
  const where = environment === 'sandbox' ? 'to the sandbox' : 'on live data'
  if (among === null) return <Nothing>No failed requests {where}.</Nothing>
  return (
    <Nothing>
      None of the last {among} failed requests was {where}.
    </Nothing>
  )
}

/** What was seen before, with the newest ones; where these have no connection to it any more, they alone. */
function withNewest(seen: Failures, newest: Failures): Failures {
  const known = new Set(seen.rows.map(({ id }) => id))
  const isConnected = newest.next === null || newest.rows.some(({ id }) => known.has(id))
  return isConnected ? { rows: unique([...newest.rows, ...seen.rows]), next: seen.next } : newest
}

function unique(rows: RequestView[]): RequestView[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()]
}

/** A request may become visible up to two seconds after its response. */
const writtenMilliseconds = 2000

function Search({ api }: { api: Api }) {
  const [found, setFound] = useState<RequestView[] | 'searching' | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const running = useRef(new AbortController())
  const search = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const id = String(form.get('request_id')).trim()
    // A later search replaces an earlier one.
    running.current.abort()
    const controller = new AbortController()
    running.current = controller
    const { signal } = controller
    setFound(id ? 'searching' : null)
    setError(null)
    if (!id) return
    try {
      setFound((await find(api, id, signal)) ?? (await findLater(api, id, signal)) ?? [])
    } catch (failure) {
      if (signal.aborted) return
      setFound(null)
      setError(toApiError(failure))
    }
  }
  return (
    <search>
      <form class="search" onSubmit={search}>
        <label for="request-id">Request id</label>
        <input id="request-id" name="request_id" maxLength={128} spellcheck={false} autocomplete="off" />
        <button type="submit">Find</button>
      </form>
      <div aria-live="polite">
        {found === 'searching' && <p class="loading">Searching…</p>}
        {error && <p class="problem">{error.message}</p>}
        {Array.isArray(found) && found.length === 0 && (
          <Nothing>No request with this id was made with this key, or it is no longer kept.</Nothing>
        )}
        {Array.isArray(found) && found.map((row) => <RequestDetails key={row.id} row={row} isOpen />)}
      </div>
    </search>
  )
}

async function find(api: Api, id: string, signal: AbortSignal): Promise<RequestView[] | null> {
  const { data } = await api.get<RequestView[]>('/requests', { query: { request_id: id }, signal })
  return data.length > 0 ? data : null
}

async function findLater(api: Api, id: string, signal: AbortSignal): Promise<RequestView[] | null> {
  await sleep(writtenMilliseconds, signal)
  return find(api, id, signal)
}

function RequestDetails({ row, isOpen = false }: { row: RequestView; isOpen?: boolean }) {
  const { error } = row
  return (
    <details class="request" open={isOpen}>
      <summary>
        <span class={`badge ${row.status < 400 ? 'good' : 'bad'}`}>{row.status}</span>
        <code>
          {row.method} {row.path}
        </code>
        <time dateTime={row.at} title={showTime(row.at)}>
          {showAge(row.at)}
        </time>
      </summary>
      <div class="errors">
        {error ? <p class="message">{error.message}</p> : <p>The request succeeded.</p>}
        {error && error.errors.length > 0 && (
          <ul>
            {error.errors.map((problem) => (
              <li key={problem.path}>
                <code>{problem.path}</code> {problem.message}
              </li>
            ))}
          </ul>
        )}
        {error && (
          <p>
            <DocsLink to={guideFor(error.type)}>What “{error.type}” means, and when to try again</DocsLink>
          </p>
        )}
        <dl class="facts small">
          <dt>Request id</dt>
          <dd>
            <code>{row.request_id ?? 'none'}</code>
          </dd>
          <dt>Time</dt>
          <dd>
            {showTime(row.at)}, took {row.duration_ms} ms{row.replayed && ', replay of an earlier response'}
          </dd>
          <dt>From</dt>
          <dd>
            {row.address}
            {row.sandbox && ', to the sandbox'}
          </dd>
        </dl>
      </div>
    </details>
  )
}

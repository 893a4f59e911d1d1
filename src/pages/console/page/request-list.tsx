import { useCallback, useEffect, useState } from 'preact/hooks'
import type { RequestView } from '../../../access/requests/schema.ts'
import { type Api, type ApiError, type Environment, toApiError } from './api.ts'
import { type LoadOptions, useLoaded } from './hooks.ts'
import { Pages } from './lists.tsx'
import { DocsLink, EmptyState, LoadedContent, Panel, Switch } from './parts.tsx'
import { RequestDetails } from './request-details.tsx'
import { Search } from './search.tsx'

/** The choices of requests to list, each with its values for the log's `status` filter. */
const choices = {
  failed: { name: 'Failed', status: ['4xx', '5xx', 'unanswered'] },
  succeeded: { name: 'Succeeded', status: ['2xx', '3xx'] },
}
type Choice = keyof typeof choices

/** The loaded requests, newest first, and the cursor for older requests (null if there are none). */
interface Listed {
  rows: RequestView[]
  next: string | null
}

interface Connection {
  api: Api
  environment: Environment
}

/** Lists failed or successful requests, which expand to show their errors. A search finds any request by its id. */
export function RequestPanel(connection: Connection) {
  const [choice, setChoice] = useState<Choice>('failed')
  return (
    <Panel
      id="log"
      title="Request log"
      note="Failures are kept for 7 days, and the last 1,000 other requests."
    >
      <Search api={connection.api} />
      <Switch name="log" legend="Requests" choices={choices} chosen={choice} choose={setChoice} />
      <Requests key={choice} choice={choice} {...connection} />
    </Panel>
  )
}

function Requests({ api, choice, environment }: Connection & { choice: Choice }) {
  const load = useCallback((turn: LoadOptions) => loadPage(api, choice, null, turn), [api, choice])
  const loaded = useLoaded(load)
  return (
    <LoadedContent loaded={loaded} retry={loaded.reload}>
      {(newest) => <Rows key={environment} {...{ api, choice, newest, environment }} />}
    </LoadedContent>
  )
}

/** Loads a page of requests from both environments. */
async function loadPage(
  api: Api,
  choice: Choice,
  cursor: string | null,
  turn?: LoadOptions,
): Promise<Listed> {
  const { status } = choices[choice]
  const query = { status, per_page: '100', ...(cursor ? { cursor } : {}) }
  const { data, meta } = await api.get<RequestView[]>('/requests', { query, ...turn })
  return { rows: data, next: meta.pagination?.next_cursor ?? null }
}

function Rows({ api, choice, newest, environment }: Connection & { choice: Choice; newest: Listed }) {
  const [seen, setSeen] = useState(newest)
  const [error, setError] = useState<ApiError | null>(null)
  useEffect(() => setSeen((before) => withNewest(before, newest)), [newest])
  const rows = seen.rows.filter(({ sandbox }) => sandbox === (environment === 'sandbox'))
  const readOn = async () => {
    setError(null)
    try {
      const { rows: older, next } = await loadPage(api, choice, seen.next)
      setSeen((before) => ({ rows: unique([...before.rows, ...older]), next }))
    } catch (failure) {
      setError(toApiError(failure))
    }
  }
  const none = `No ${choices[choice].name.toLowerCase()} requests ${environment === 'sandbox' ? 'to the sandbox' : 'on live data'}`
  return (
    <>
      {rows.length === 0 && (
        <EmptyState>
          {none}
          {seen.next && ` among the last ${seen.rows.length}`}.{' '}
          <NextStep choice={choice} hasOlder={seen.next !== null} />
        </EmptyState>
      )}
      <Pages rows={rows} loadOlder={seen.next ? readOn : undefined}>
        {(page) => (
          <ul class="requests">
            {page.map((row) => (
              <li key={row.id}>
                <RequestDetails row={row} />
              </li>
            ))}
          </ul>
        )}
      </Pages>
      {error && (
        <p class="problem" role="alert">
          {error.message}
        </p>
      )}
    </>
  )
}

/** Says what to do if no requests of a choice are listed. */
function NextStep({ choice, hasOlder }: { choice: Choice; hasOlder: boolean }) {
  if (hasOlder) return <>Choose “Older” to look further back.</>
  if (choice === 'failed') return <>Choose “Succeeded” to see the others.</>
  return (
    <>
      <DocsLink to="/guide/first-booking">Send the first one</DocsLink>; it appears here within seconds.
    </>
  )
}

/** Adds the newest requests to the list, or replaces the list if there may be a gap between the two. */
function withNewest(seen: Listed, newest: Listed): Listed {
  const known = new Set(seen.rows.map(({ id }) => id))
  const isConnected = newest.next === null || newest.rows.some(({ id }) => known.has(id))
  return isConnected ? { rows: unique([...newest.rows, ...seen.rows]), next: seen.next } : newest
}

function unique(rows: RequestView[]): RequestView[] {
  return [...new Map(rows.map((row) => [row.id, row])).values()]
}

import { useRef, useState } from 'preact/hooks'
import type { RequestView } from '../../../access/requests/schema.ts'
import { type Api, type ApiError, toApiError } from './api.ts'
import { sleep } from './gate.ts'
import { EmptyState, Loading } from './parts.tsx'
import { RequestDetails } from './request-details.tsx'

/** Maximum delay between a response and the request's appearance in the log, in milliseconds. */
const writtenMilliseconds = 2000

/** Finds a request by its id. */
export function Search({ api }: { api: Api }) {
  const [found, setFound] = useState<RequestView[] | 'searching' | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const running = useRef(new AbortController())
  const search = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const id = String(form.get('request_id')).trim()
    // A new search aborts the previous one.
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
      <div class="found" aria-live="polite">
        {found === 'searching' && <Loading what="Searching" />}
        {error && <p class="problem">{error.message}</p>}
        {Array.isArray(found) && found.length === 0 && (
          <EmptyState>
            No request with this id was made with this key, or it is no longer kept. Copy the whole id from
            the response’s <code>X-Request-Id</code>, and check which key your product sends.
          </EmptyState>
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

import { useState } from 'preact/hooks'
import type { DigestView } from '../../../changes/digest/schema.ts'
import { type Api, type ApiError, type Environment, toApiError } from './api.ts'
import { showCount } from './format.ts'
import { DocsLink, Loading } from './parts.tsx'

/**
 * Shows the number of bookings and their hash, which a partner compares with its own (decisions §23). The digest is
 * loaded only on demand, because the page's few requests per minute are reserved for data that changes.
 */
export function Digest({ api, environment }: { api: Api; environment: Environment }) {
  const [digest, setDigest] = useState<DigestView | 'loading' | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const load = async () => {
    setDigest('loading')
    setError(null)
    try {
      const path = '/integrations/provider_one/bookings/digest'
      const { data } = await api.get<{ digest: DigestView }>(path, { environment })
      setDigest(data.digest)
    } catch (failure) {
      setDigest(null)
      setError(toApiError(failure))
    }
  }
  return (
    <div aria-live="polite">
      <button type="button" onClick={load} disabled={digest === 'loading'}>
        Digest of all bookings
      </button>
      {digest === 'loading' && <Loading />}
      {error && <p class="problem">{error.message}</p>}
      {digest !== null && digest !== 'loading' && <Line {...digest} />}
    </div>
  )
}

function Line({ count, sha256, version }: DigestView) {
  return (
    <p class="quiet">
      Bookings: {showCount(count)}, <DocsLink to="/guide/after-an-outage">digest</DocsLink>{' '}
      <code>{sha256}</code>
      {version && <>, as of {version}</>}
    </p>
  )
}

import { useCallback } from 'preact/hooks'
import type { DigestView } from '../../../changes/digest/schema.ts'
import type { Api, Environment } from './api.ts'
import { showCount } from './format.ts'
import { type Turn, useLoaded } from './hooks.ts'
import { DocsLink, Shown } from './parts.tsx'

/** How many bookings there are, and the hash by which a partner compares its own (decisions §23). */
export function Digest({ api, environment }: { api: Api; environment: Environment }) {
  const load = useCallback(
    async (turn: Turn) => {
      const path = '/integrations/provider_one/bookings/digest'
      return (await api.get<{ digest: DigestView }>(path, { environment, ...turn })).data.digest
    },
    [api, environment],
  )
  const loaded = useLoaded(load)
  return (
    <Shown loaded={loaded} retry={loaded.reload}>
      {({ count, sha256, version }) => (
        <p class="quiet">
          Bookings: {showCount(count)}, <DocsLink to="/docs#description/after-an-outage">digest</DocsLink>{' '}
          <code>{sha256}</code>
          {version !== null && version !== undefined && <>, as of {version}</>}
        </p>
      )}
    </Shown>
  )
}

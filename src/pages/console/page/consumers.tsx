import { useCallback } from 'preact/hooks'
import type { ConsumerView } from '../../../changes/consumers/schema.ts'
import type { FeedName } from '../../../changes/feeds.ts'
import type { Api, Environment } from './api.ts'
import { showAge, showCount } from './format.ts'
import { type LoadOptions, useLoaded } from './hooks.ts'
import { type Column, Table } from './lists.tsx'
import { DocsLink, EmptyState, LoadedContent } from './parts.tsx'

type ConsumerRow = ConsumerView & { feed: FeedName }

/** Loads both feeds' consumers. The consumer with the oldest pending change is first. */
async function loadConsumers(api: Api, environment: Environment, turn: LoadOptions): Promise<ConsumerRow[]> {
  const feeds = ['bookings', 'messages'] as const
  const lists = await Promise.all(
    feeds.map(async (feed) => {
      const path = `/integrations/provider_one/${feed}/consumers`
      const { data } = await api.get<ConsumerView[]>(path, { environment, ...turn })
      return data.map((consumer) => ({ ...consumer, feed }))
    }),
  )
  const age = ({ oldest_pending_at }: ConsumerRow) => oldest_pending_at ?? '9'
  return lists.flat().sort((one, other) => age(one).localeCompare(age(other)))
}

/** Shows the feeds' consumers and how far behind each one is. */
export function Consumers({ api, environment }: { api: Api; environment: Environment }) {
  const load = useCallback((turn: LoadOptions) => loadConsumers(api, environment, turn), [api, environment])
  const loaded = useLoaded(load)
  return (
    <LoadedContent loaded={loaded} retry={loaded.reload}>
      {(rows) =>
        rows.length === 0 ? (
          <NoConsumers />
        ) : (
          <Table
            label="Consumers"
            columns={columns}
            rows={rows}
            keyOf={({ feed, name }) => `${feed}/${name}`}
          />
        )
      }
    </LoadedContent>
  )
}

function NoConsumers() {
  return (
    <EmptyState>
      No consumers. <DocsLink to="/guide/polling#a-poller-without-a-disk">Create one</DocsLink>, and the
      service keeps your place in the feed.
    </EmptyState>
  )
}

const columns: [Column<ConsumerRow>, ...Column<ConsumerRow>[]] = [
  { name: 'Name', cell: ({ name }) => name },
  { name: 'Feed', cell: ({ feed }) => feed },
  {
    name: 'Behind',
    isNumber: true,
    cell: ({ pending }) => (pending >= 10_000 ? '10,000 or more' : showCount(pending)),
  },
  { name: 'Oldest pending', cell: ({ oldest_pending_at: at }) => (at ? showAge(at) : 'nothing') },
  { name: 'Acknowledged', cell: ({ acknowledged_at: at }) => (at ? showAge(at) : 'never') },
]

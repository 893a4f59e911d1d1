import { useCallback } from 'preact/hooks'
import type { ConsumedFeed, ConsumerView } from '../../../changes/consumers/schema.ts'
import type { Api, Environment } from './api.ts'
import { showAge, showCount } from './format.ts'
import { type Turn, useLoaded } from './hooks.ts'
import { DocsLink, Nothing, Shown } from './parts.tsx'

type ConsumerRow = ConsumerView & { feed: ConsumedFeed }

/** Loads both feeds' consumers, sorted by their oldest pending change, oldest first. */
async function loadConsumers(api: Api, environment: Environment, turn: Turn): Promise<ConsumerRow[]> {
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
  const load = useCallback((turn: Turn) => loadConsumers(api, environment, turn), [api, environment])
  const loaded = useLoaded(load)
  return (
    <Shown loaded={loaded} retry={loaded.reload}>
      {(rows) => (rows.length === 0 ? <NoConsumers /> : <ConsumerTable rows={rows} />)}
    </Shown>
  )
}

function NoConsumers() {
  return (
    <Nothing>
      No consumers.{' '}
      <DocsLink to="/docs#description/a-poller-without-a-disk">A poller without a disk</DocsLink> has one.
    </Nothing>
  )
}

function ConsumerTable({ rows }: { rows: ConsumerRow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
    <section class="scrolls" tabIndex={0} aria-label="Consumers as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Feed</th>
            <th scope="col" class="number">
              Behind
            </th>
            <th scope="col">Oldest pending</th>
            <th scope="col">Acknowledged</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.feed}/${row.name}`}>
              <th scope="row">{row.name}</th>
              <td>{row.feed}</td>
              <td class="number">{row.pending >= 10_000 ? '10,000 or more' : showCount(row.pending)}</td>
              <td>{row.oldest_pending_at ? showAge(row.oldest_pending_at) : 'nothing'}</td>
              <td>{row.acknowledged_at ? showAge(row.acknowledged_at) : 'never'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

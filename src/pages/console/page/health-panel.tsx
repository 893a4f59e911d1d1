import { useCallback } from 'preact/hooks'
import type { FindingView, HealthView } from '../../../changes/health/schema.ts'
import type { Api, Environment } from './api.ts'
import { showCount, showMoment } from './format.ts'
import { type LoadOptions, useFresh, useLoaded } from './hooks.ts'
import { type Column, Table } from './lists.tsx'
import { DocsLink, EmptyState, LoadedContent, Panel } from './parts.tsx'
import { kinds } from './traffic.ts'

interface Connection {
  api: Api
  environment: Environment
}

/** Shows what is wrong with the integration, how far the key has read the feeds, and how its requests ended. */
export function HealthPanel({ api, environment }: Connection) {
  const load = useCallback(
    async (turn: LoadOptions) => (await api.get<HealthView>('/health', { environment, ...turn })).data,
    [api, environment],
  )
  const loaded = useLoaded(load)
  const isFresh = useFresh(loaded)
  return (
    <Panel id="health" title="Quiet or broken?">
      <LoadedContent loaded={loaded} retry={loaded.reload}>
        {(health) =>
          isFresh ? (
            <Health environment={environment} {...health} />
          ) : (
            <EmptyState>It is not known how the integration is until the service answers again.</EmptyState>
          )
        }
      </LoadedContent>
    </Panel>
  )
}

function Health({
  environment,
  status,
  findings,
  feeds,
  requests,
}: HealthView & Pick<Connection, 'environment'>) {
  const isQuiet = status === 'ok' && feeds.bookings?.unread === 0
  return (
    <>
      <p>
        <span class={`badge ${status}`}>{status}</span> {verdicts[status]}
        {isQuiet && ' The key has read every booking change, so if nothing arrives, nothing has happened.'}
      </p>
      {findings.length > 0 && (
        <ul class="findings">
          {findings.map((finding) => (
            <Finding key={nameOf(finding)} environment={environment} {...finding} />
          ))}
        </ul>
      )}
      <Feeds environment={environment} feeds={feeds} />
      <p class="note">Requests of the last hour, live and sandbox together:</p>
      <ul class="legend">
        {kinds.map(({ kind, name }) => (
          <li key={kind}>
            {name}: <strong>{showCount(requests[kind])}</strong>
          </li>
        ))}
      </ul>
    </>
  )
}

const verdicts: Record<HealthView['status'], string> = {
  ok: 'Nothing is wrong.',
  warning: 'Something needs attention soon.',
  failing: 'Something is broken and needs somebody now.',
}

/** Returns a text that tells a finding from the others. */
function nameOf({ code, feed, consumer, webhook_id, operation_id }: FindingView): string {
  return [code, feed, consumer, webhook_id, operation_id].join('/')
}

function Finding({
  environment,
  code,
  severity,
  since,
  message,
  guide,
}: FindingView & Pick<Connection, 'environment'>) {
  // The guide is on this page's own server, whichever address of it the partner has opened.
  const { pathname, hash } = new URL(guide)
  return (
    <li>
      <span class={`badge ${severity}`}>{severity}</span> <code>{code}</code>
      {since && <span class="quiet"> since {showMoment(since, environment)}</span>}
      <br />
      {message}. <DocsLink to={pathname + hash}>What to do about {code}</DocsLink>
    </li>
  )
}

interface FeedRow extends NonNullable<HealthView['feeds']['bookings']> {
  name: string
}

function Feeds({ environment, feeds }: Pick<HealthView, 'feeds'> & Pick<Connection, 'environment'>) {
  const { bookings, messages } = feeds
  if (bookings === null || messages === null)
    return (
      <EmptyState>
        The feeds are not shown, because the key lacks the permission bookings.read. Ask an administrator to{' '}
        <DocsLink to="/guide/keys#permissions">add it</DocsLink>.
      </EmptyState>
    )
  const rows = [
    { name: 'bookings', ...bookings },
    { name: 'messages', ...messages },
  ]
  const columns: [Column<FeedRow>, ...Column<FeedRow>[]] = [
    { name: 'Feed', cell: ({ name }) => name },
    { name: 'Unread', isNumber: true, cell: ({ unread }) => showUnread(unread) },
    {
      name: 'Oldest unread',
      cell: ({ oldest_unread_at: at }) => (at ? showMoment(at, environment) : 'none'),
    },
    { name: 'Last read', cell: ({ read_at: at }) => (at ? showMoment(at, environment) : 'never') },
    { name: 'Read up to', cell: ({ read_version }) => read_version ?? 'nothing yet' },
    { name: 'Newest change', cell: ({ newest_version }) => newest_version ?? 'none' },
  ]
  return <Table label="Positions in the feeds" columns={columns} rows={rows} keyOf={({ name }) => name} />
}

/** The service counts up to 10,000 changes. */
function showUnread(unread: number | null): string {
  if (unread === null) return 'not read yet'
  return unread >= 10_000 ? '10,000 or more' : showCount(unread)
}

import { useCallback, useState } from 'preact/hooks'
import type { DeliveryView, WebhookView } from '../../../changes/webhooks/manage/schema.ts'
import type { Api, Environment } from './api.ts'
import { showAge, showCount, showTime } from './format.ts'
import { type LoadOptions, useLoaded } from './hooks.ts'
import { type Column, Table } from './lists.tsx'
import { DocsLink, EmptyState, LoadedContent } from './parts.tsx'

interface Connection {
  api: Api
  environment: Environment
}

/** Shows the webhooks, which are loaded only when the partner asks to see them. */
export function Webhooks(connection: Connection) {
  const [isOpen, setOpen] = useState(false)
  if (isOpen) return <Loaded {...connection} />
  return (
    <button type="button" onClick={() => setOpen(true)}>
      Show the webhooks
    </button>
  )
}

function Loaded({ api, environment }: Connection) {
  const load = useCallback(
    async (turn: LoadOptions) => (await api.get<WebhookView[]>('/webhooks', { environment, ...turn })).data,
    [api, environment],
  )
  const loaded = useLoaded(load)
  return (
    <LoadedContent loaded={loaded} retry={loaded.reload}>
      {(rows) =>
        rows.length === 0 ? <NoWebhooks /> : <List rows={rows} api={api} environment={environment} />
      }
    </LoadedContent>
  )
}

function NoWebhooks() {
  return (
    <EmptyState>
      No webhooks. <DocsLink to="/guide/webhooks#create-a-webhook">Create one</DocsLink>, and signed hints
      tell your server when to look.
    </EmptyState>
  )
}

function List({ rows, ...connection }: Connection & { rows: WebhookView[] }) {
  return (
    <ul class="requests">
      {rows.map((row) => (
        <li key={row.id}>
          <WebhookDetails row={row} {...connection} />
        </li>
      ))}
    </ul>
  )
}

/** Shows one webhook; its deliveries are loaded when it is expanded. */
function WebhookDetails({ row, ...connection }: Connection & { row: WebhookView }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="request" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span class="address">{row.url}</span>{' '}
        <span class={row.enabled ? 'note' : 'off'}>{stateOf(row)}</span>
      </summary>
      <p class="note">
        Id {row.id}, receives {row.events.join(' and ')}, created with key {row.created_by}.
      </p>
      {isOpen && <Deliveries id={row.id} {...connection} />}
    </details>
  )
}

const reasons: Record<string, string> = {
  gone: 'it responded 410',
  failing: 'it had failed for five days',
  partner: 'turned off by you',
  administrator: 'turned off by an administrator',
}

function stateOf({ disabled_at, disabled_reason }: WebhookView): string {
  if (disabled_at === null) return 'on'
  return `off, ${showAge(disabled_at)}: ${reasons[disabled_reason ?? ''] ?? disabled_reason}`
}

function Deliveries({ id, api, environment }: Connection & { id: number }) {
  const load = useCallback(
    async (turn: LoadOptions) =>
      (await api.get<DeliveryView[]>(`/webhooks/${id}/deliveries`, { environment, ...turn })).data,
    [api, environment, id],
  )
  const loaded = useLoaded(load)
  return (
    <LoadedContent loaded={loaded} retry={loaded.reload}>
      {(rows) =>
        rows.length === 0 ? (
          <EmptyState>
            Nothing has been sent yet. Change a booking, or send{' '}
            <code>
              POST {environment === 'sandbox' ? '/sandbox' : '/v1'}/webhooks/{id}/test
            </code>
            .
          </EmptyState>
        ) : (
          <Table label="Deliveries" columns={columns} rows={rows} keyOf={({ id }) => id} />
        )
      }
    </LoadedContent>
  )
}

const columns: [Column<DeliveryView>, ...Column<DeliveryView>[]] = [
  { name: 'Delivery', cell: ({ id }) => id },
  { name: 'Event', cell: ({ event }) => event },
  { name: 'Booking', cell: ({ booking_id }) => booking_id ?? 'none' },
  { name: 'Status', cell: ({ status }) => status },
  { name: 'Tries', isNumber: true, cell: ({ attempts }) => showCount(attempts) },
  { name: 'Response', cell: responseOf },
  { name: 'Next try', cell: ({ next_attempt_at: next }) => (next ? showTime(next) : 'none') },
]

/** Describes the result of the last attempt. */
function responseOf({ status, response_status, error, error_detail, milliseconds }: DeliveryView): string {
  if (status === 'delivered' && response_status === null)
    return 'withheld by a sandbox fault or certification'
  if (milliseconds === null) return 'not tried yet'
  const detail = error_detail?.replaceAll('_', ' ')
  const outcome =
    response_status === null ? (detail ?? error) : [response_status, detail].filter(Boolean).join(', ')
  return `${outcome} after ${showCount(milliseconds)} ms`
}

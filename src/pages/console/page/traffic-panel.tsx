import { useEffect, useRef, useState } from 'preact/hooks'
import type { RequestCount } from '../../../access/requests/schema.ts'
import { drawChart } from './chart.ts'
import { showCount, showTime, timeZone } from './format.ts'
import type { Loaded } from './hooks.ts'
import { type Column, Table } from './lists.tsx'
import { DocsLink, EmptyState, LoadedContent, Panel, Switch } from './parts.tsx'
import { type Bar, kinds, type Span, spans, toBars, totals } from './traffic.ts'

/** Charts the last hour's or day's requests by kind of response, with the rate limit for comparison. */
export function TrafficPanel({ loaded, now, limit, retry }: TrafficProps) {
  const [span, setSpan] = useState<Span>('hour')
  return (
    <Panel
      id="traffic"
      title="Requests"
      note="Live and sandbox together: they share one limit. Requests for the key itself, its health, its log and its consumers have a separate limit and are not shown."
    >
      <Switch name="span" legend="Time" choices={spans} chosen={span} choose={setSpan} />
      <LoadedContent loaded={loaded} retry={retry}>
        {(counts) => <Traffic bars={toBars(counts, span, now)} span={span} limit={limit} />}
      </LoadedContent>
    </Panel>
  )
}

interface TrafficProps {
  loaded: Loaded<RequestCount[]>
  /** Current time on the service's clock, in milliseconds since 1970. */
  now: number
  limit: number | undefined
  retry: () => void
}

function Traffic({ bars, span, limit }: { bars: Bar[]; span: Span; limit: number | undefined }) {
  const sums = totals(bars)
  const perBar = spans[span].minutesPerBar
  const all = kinds.reduce((sum, { kind }) => sum + sums[kind], 0)
  if (all === 0)
    return (
      <EmptyState>
        No requests in the {spans[span].name.toLowerCase()}.{' '}
        <DocsLink to="/guide/first-booking">Your first booking</DocsLink> shows how to send some.
      </EmptyState>
    )
  return (
    <>
      <ul class="legend">
        {kinds.map(({ kind, name }) => (
          <li key={kind}>
            <span class={`swatch ${kind}`} /> {name}: <strong>{showCount(sums[kind])}</strong>
          </li>
        ))}
        {limit !== undefined && (
          <li>
            <span class="swatch limit" /> Limit: {showCount(limit)} a minute
            {perBar > 1 && ` (${showCount(limit * perBar)} in ${perBar} minutes)`}
          </li>
        )}
      </ul>
      <Chart bars={bars} span={span} limit={limit} />
      <p class="note">Times in {timeZone}.</p>
      <details>
        <summary>As a table</summary>
        <BarTable bars={bars} />
      </details>
    </>
  )
}

function Chart(props: { bars: Bar[]; span: Span; limit: number | undefined }) {
  const container = useRef<HTMLDivElement>(null)
  const { bars, span, limit } = props
  useEffect(() => {
    if (container.current) return drawChart(container.current, bars, spans[span].minutesPerBar, limit)
  })
  return (
    <div
      ref={container}
      class="chart"
      role="img"
      aria-label={`Requests of the ${spans[span].name.toLowerCase()}`}
    />
  )
}

const columns: [Column<Bar>, ...Column<Bar>[]] = [
  { name: 'From', cell: ({ at }) => showTime(new Date(at * 1000).toISOString()) },
  ...kinds.map(({ kind, name }) => ({ name, isNumber: true, cell: (bar: Bar) => showCount(bar[kind]) })),
]

function BarTable({ bars }: { bars: Bar[] }) {
  const rows = bars.filter((bar) => kinds.some(({ kind }) => bar[kind] > 0)).reverse()
  return <Table label="Requests" columns={columns} rows={rows} keyOf={({ at }) => at} />
}

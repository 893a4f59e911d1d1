import Table from 'cli-table3'
import type { Load } from './load.ts'

/** One row of the table. */
export interface Row {
  work: string
  server?: string
  connections?: number
  load?: Load
  /** The ratio to judge, and the values that it compares. */
  result?: string
  aim?: string
  /** Absent if there is no aim. */
  holds?: boolean
}

/** A row whose ratio is to be judged. Its own `result` and `aim` replace those made from the ratio and the limit. */
interface Judged extends Row {
  ratio: number
  limit: number
  /** What the ratio is a multiple of. */
  of?: string
}

/** Returns a row whose ratio should be at most `limit`. */
export function atMost({ ratio, limit, of = '', ...row }: Judged): Row {
  return { result: `${ratio.toFixed(2)} × ${of}`, aim: `≤ ${limit}`, holds: ratio <= limit, ...row }
}

/** Returns a row whose ratio should be at least `limit`. */
export function atLeast({ ratio, limit, of = '', ...row }: Judged): Row {
  return { result: `${ratio.toFixed(2)} × ${of}`, aim: `≥ ${limit}`, holds: ratio >= limit, ...row }
}

/** Renders the rows as a readable table. */
export function draw(rows: Row[]): string {
  const table = new Table({
    head: ['Work', 'Server', 'Conn.', 'Per s', 'p50 ms', 'p99 ms', 'CPU µs', 'of all', 'Result', 'Aim', ''],
    style: { head: [], border: [], compact: true },
  })
  for (const { work, server = '', connections = '', load, result = '', aim = '', holds } of rows)
    table.push([work, server, connections, ...figures(load), result, aim, verdict(holds)])
  return table.toString()
}

function figures(load?: Load): string[] {
  if (!load) return ['', '', '', '', '']
  const whole = (value: number) => Math.round(value).toString()
  const { perSecond, p50, p99, cpu, cpuOfAll } = load
  return [whole(perSecond), p50.toFixed(2), p99.toFixed(2), whole(cpu), whole(cpuOfAll)]
}

function verdict(holds?: boolean): string {
  if (holds === undefined) return ''
  return holds ? 'holds' : 'MISSED'
}

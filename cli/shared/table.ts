import Table from 'cli-table3'
import { ChecksFailedError } from './errors.ts'
import { print, visible } from './output.ts'
import { standardOutput } from './streams.ts'

const plainBorders = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
}

const gap = 2
const narrowest = 6

/**
 * The columns of a table, keyed by title. A column shows the named field or the function's result; null is shown as
 * `-`.
 */
export type Columns<Row> = Record<string, (keyof Row & string) | ((row: Row) => string | number | null)>

/** Renders rows in columns with headings; on a terminal, the widest columns shrink until the table fits. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const head = Object.keys(columns)
  const lines = rows.map((row) =>
    Object.values(columns).map((column) => (typeof column === 'function' ? column(row) : row[column])),
  )
  const cells = [head, ...lines].map((line) => line.map((cell) => visible(String(cell ?? '-'))))
  const widths = head.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  const room = (standardOutput.columns ?? Number.POSITIVE_INFINITY) - gap * (head.length - 1)
  while (widths.reduce((sum, width) => sum + width, 0) > room && Math.max(...widths) > narrowest) {
    widths[widths.indexOf(Math.max(...widths))] = Math.max(...widths) - 1
  }
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 }
  const out = new Table({ head, chars: plainBorders, style, colWidths: widths })
  out.push(...cells.slice(1))
  return out
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** Prints a list: one JSON document with `--json`, otherwise a table. */
export function printList<Row>(
  args: { json?: boolean | undefined },
  rows: readonly Row[],
  columns: Columns<Row>,
): void {
  print(args, rows, () => table(rows, columns))
}

/** The result of one check. */
export interface CommandFinding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  detail: string
  /** Exit code if the check has failed, 1 by default. */
  code?: number
}

/** Shows findings, and makes the command fail with `verdict` if any check has failed. */
export function showFindings(
  args: { json?: boolean | undefined },
  findings: CommandFinding[],
  verdict: (failed: string[]) => string,
): void {
  const shown = findings.map(({ check, state, detail }) => ({ check, state, detail }))
  printList(args, shown, { CHECK: 'check', STATE: 'state', DETAIL: 'detail' })
  const failed = findings.filter(({ state }) => state === 'failed')
  if (failed.length === 0) return
  const code = failed.find((finding) => finding.code)?.code
  throw new ChecksFailedError(verdict(failed.map(({ check }) => check)), code)
}

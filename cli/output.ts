import { stripVTControlCharacters } from 'node:util'
import type { ArgsDef } from 'citty'
import Table from 'cli-table3'
import { UsageError } from './errors.ts'
import { jsonText, visible, visibleLines } from './text.ts'

/** Prints the value as one JSON document with `--json`, otherwise as human-readable text from `render`. */
export function print<T>(args: { json?: boolean | undefined }, value: T, render: (value: T) => string): void {
  process.stdout.write(`${args.json ? jsonText(value, 2) : visibleLines(render(value))}\n`)
}

/** Prints a note for a person on standard error, never on standard output. */
export function note(text: string): void {
  process.stderr.write(`${visibleLines(text)}\n`)
}

/** Prints the command's own text, which may be coloured; the colours are kept only on a terminal. */
export function show(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? text : stripVTControlCharacters(text)}\n`)
}

/** Notes that a request failed, and when it will be retried. */
export function noteRetry(error: unknown, seconds: number): void {
  note(visible(`${(error as Error).message}; trying again in ${seconds.toFixed(1)} s`))
}

const plainBorders = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '' },
  ...{ 'bottom-left': '', 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '' },
  ...{ right: '', 'right-mid': '', middle: '  ' },
}

const gap = 2
const narrowest = 6

/** Renders rows in columns with headings; on a terminal, the widest columns shrink until the table fits. */
export function table(head: string[], rows: (string | number | null)[][]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => visible(String(cell ?? '-'))))
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  const room = process.stdout.isTTY
    ? process.stdout.columns - gap * (head.length - 1)
    : Number.POSITIVE_INFINITY
  while (widths.reduce((sum, width) => sum + width, 0) > room && Math.max(...widths) > narrowest) {
    widths[widths.indexOf(Math.max(...widths))] = Math.max(...widths) - 1
  }
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 }
  const out = new Table({ head, chars: plainBorders, style, colWidths: widths })
  out.push(...cells.slice(1))
  return trimLines(out.toString())
}

/** Renders a record with a name and a value on each line. */
export function record(fields: Record<string, string | number | null>): string {
  // Names are escaped too, because some records show another server's fields unchanged.
  const cells = Object.entries(fields).map(([name, value]) => [visible(name), visible(String(value ?? '-'))])
  const width = Math.max(...cells.map(([name = '']) => name.length))
  return cells.map(([name = '', value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

/** Argument of commands that never end by themselves and so cannot print a single JSON document. */
export const streamArgs = {
  output: { type: 'enum', options: ['text', 'ndjson'], description: 'How each one is printed' },
} satisfies ArgsDef

/**
 * Returns true if a command that never ends by itself prints JSON, one document per line.
 *
 * @throws UsageError for `--json` (decisions §15)
 */
export function isNdjson({
  json,
  output,
}: {
  json?: boolean | undefined
  output?: string | undefined
}): boolean {
  if (json) throw new UsageError('The command does not end by itself: use --output ndjson in place of --json')
  return output === 'ndjson'
}

import { stripVTControlCharacters } from 'node:util'
import Table from 'cli-table3'

/** One JSON document with `--json`, else whatever `render` makes of the value for a person. */
export function print<T>(args: { json?: boolean | undefined }, value: T, render: (value: T) => string): void {
  process.stdout.write(`${args.json ? JSON.stringify(value, null, 2) : render(value)}\n`)
}

/** A note for a person; never on standard output. */
export function note(text: string): void {
  process.stderr.write(`${process.stderr.isTTY ? text : stripVTControlCharacters(text)}\n`)
}

/** Text for standard output that may be coloured; the colour is kept on a terminal only. */
export function show(text: string): void {
  process.stdout.write(`${process.stdout.isTTY ? text : stripVTControlCharacters(text)}\n`)
}

const plainBorders = {
  ...{ top: '', 'top-mid': '', 'top-left': '', 'top-right': '', bottom: '', 'bottom-mid': '' },
  ...{ 'bottom-left': '', 'bottom-right': '', left: '', 'left-mid': '', mid: '', 'mid-mid': '' },
  ...{ right: '', 'right-mid': '', middle: '  ' },
}

/** Rows in columns, with a heading. */
export function table(head: string[], rows: (string | number | null)[][]): string {
  const style = { head: [], border: [], 'padding-left': 0, 'padding-right': 0 }
  const out = new Table({ head, chars: plainBorders, style })
  out.push(...rows.map((row) => row.map((cell) => cell ?? '-')))
  return trimLines(out.toString())
}

/** A record as lines of name and value. */
export function record(fields: Record<string, string | number | null>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length))
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${value ?? '-'}`)
    .join('\n')
}

function trimLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

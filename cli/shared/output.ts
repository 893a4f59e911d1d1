import type { ArgsDef } from 'citty'
import { builtIn } from './built-in.ts'
import { OutputError, standardError, standardOutput } from './streams.ts'

/** Prints the value as one JSON document with `--json`, otherwise as human-readable text from `render`. */
export function print<T>(args: { json?: boolean | undefined }, value: T, render: (value: T) => string): void {
  standardOutput.write(`${args.json ? jsonText(value, 2) : visibleLines(render(value))}\n`)
}

/** Prints a note for the user on standard error, never on standard output. */
export function note(text: string): void {
  standardError.write(`${visibleLines(text)}\n`)
}

/** Prints a note, unless standard error itself cannot be written. */
export function noteIfPossible(text: string): void {
  try {
    note(text)
  } catch (error) {
    if (!(error instanceof OutputError)) throw error
  }
}

/** Prints the command's own text; its colours are kept only on a terminal. */
export function show(text: string): void {
  standardOutput.write(`${standardOutput.isTerminal ? text : withoutSequences(text)}\n`)
}

/**
 * Prints one line of a stream. The line has been written once the promise resolves, and only then does a change count
 * as handled.
 */
export function printLine(line: string): Promise<void> {
  return standardOutput.writeInTurn(`${line}\n`)
}

/** Renders a record with a name and a value on each line. */
export function record(fields: Record<string, string | number | null>): string {
  // Names are escaped too, because some records show another server's fields unchanged.
  const cells = Object.entries(fields).map(([name, value]) => [visible(name), visible(String(value ?? '-'))])
  const width = Math.max(...cells.map(([name = '']) => name.length))
  return cells.map(([name = '', value]) => `${name.padEnd(width)}  ${value}`).join('\n')
}

/** Argument of commands that run until they are stopped and therefore cannot print a single JSON document. */
export const streamArgs = {
  output: { type: 'enum', options: ['text', 'ndjson'], description: 'How each item is printed' },
} satisfies ArgsDef

/** Why these commands refuse `--json` (decisions §15). */
export const noJsonInStreams = 'The command does not end by itself: use --output ndjson in place of --json'

/** Control characters, including C1 and bidirectional controls. In untrusted text, they could move the cursor. */
const controls = '\\p{Cc}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
const anyControl = new RegExp(`[${controls}]+`, 'gu')
const controlWithinLine = new RegExp(`(?!\\n)[${controls}]`, 'gu')
const unescaped = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Returns text on one line without control characters, safe for a table or a CSV cell (decisions §15). */
export function visible(text: string): string {
  return withoutSequences(text).replace(anyControl, ' ')
}

/** Returns text without control characters other than line breaks, safe for a terminal. */
export function visibleLines(text: string): string {
  return withoutSequences(text).replace(controlWithinLine, ' ')
}

/** Returns text without the sequences that control a terminal, each of which begins with one of two characters. */
function withoutSequences(text: string): string {
  if (!text.includes('\u001b') && !text.includes('\u009b')) return text
  return builtIn('node:util').stripVTControlCharacters(text)
}

/** Serializes to JSON without control characters; `JSON.stringify` does not escape those from U+007F upwards. */
export function jsonText(value: unknown, indent?: number): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replace(unescaped, escaped)
}

/** Returns a CSV cell (RFC 4180) that no spreadsheet treats as a formula. */
export function csvCell(text: string): string {
  const plain = visible(text).replace(/^(?=\s*[=+\-@])/, "'")
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

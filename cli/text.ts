import { stripVTControlCharacters } from 'node:util'

/** Control characters (C1 too), and those that turn the direction of text: what others wrote could move the cursor with them. */
const controls = '\\p{Cc}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
const anyControl = new RegExp(`[${controls}]+`, 'gu')
const controlWithinLine = new RegExp(`(?!\\n)[${controls}]`, 'gu')
const unescaped = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Text on one line, as it may stand in a table or a cell (decisions §15). */
export function visible(text: string): string {
  return stripVTControlCharacters(text).replace(anyControl, ' ')
}

/** Lines as they may reach a terminal. */
export function visibleLines(text: string): string {
  return stripVTControlCharacters(text).replace(controlWithinLine, ' ')
}

/** JSON that holds no control character, and the same value: `JSON.stringify` leaves those from U+007F on as they are. */
export function jsonText(value: unknown, indent?: number): string {
  const escaped = (one: string) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replace(unescaped, escaped)
}

/** A cell of a CSV file (RFC 4180), which no spreadsheet takes for a formula. */
export function csvCell(text: string): string {
  const plain = visible(text).replace(/^(?=\s*[=+\-@])/, "'")
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}

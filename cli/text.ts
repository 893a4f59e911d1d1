import { stripVTControlCharacters } from 'node:util'

/** Control characters, including C1 and bidirectional ones. In text from others, they could move the cursor. */
const controls = '\\p{Cc}\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069'
const anyControl = new RegExp(`[${controls}]+`, 'gu')
const controlWithinLine = new RegExp(`(?!\\n)[${controls}]`, 'gu')
const unescaped = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Returns text on one line without control characters, safe for a table or a cell (decisions §15). */
export function visible(text: string): string {
  return stripVTControlCharacters(text).replace(anyControl, ' ')
}

/** Returns text without control characters other than line breaks, safe for a terminal. */
export function visibleLines(text: string): string {
  return stripVTControlCharacters(text).replace(controlWithinLine, ' ')
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

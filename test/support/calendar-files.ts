import { type FileOptions, readCalendarFile } from '../../src/inventory/calendars/file/read.ts'

/** Size of the pieces in which files are read: a few within each event, or those in which large files come. */
const smallPiece = 61
const largePiece = 64 * 1024

function* inPieces(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size)
}

/**
 * Reads a file on 1 December 2026. Blocks are written `start/end`.
 *
 * @param pieceSize size of the pieces in which the reader gets the file, in bytes
 */
export async function readText(
  text: string | Uint8Array,
  options: Partial<FileOptions> = {},
  pieceSize = text.length > largePiece ? largePiece : smallPiece,
) {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const outcome = await readCalendarFile(inPieces(bytes, pieceSize), {
    today: '2026-12-01',
    country: null,
    ...options,
  })
  if (outcome.kind !== 'calendar') return { kind: outcome.kind, blocks: [], skipped: [], events: null }
  const { blocks, skipped, events, refreshSeconds } = outcome.file
  return {
    kind: outcome.kind,
    blocks: blocks.map(({ start_date, end_date }) => `${start_date}/${end_date}`),
    skipped,
    events,
    refreshSeconds,
  }
}

/** Returns a file with a calendar of these components. */
export function calendarOf(...components: string[]): string {
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...components, 'END:VCALENDAR', ''].join('\r\n')
}

/** Returns a `VEVENT` of these lines. */
export function eventOf(...lines: string[]): string {
  return ['BEGIN:VEVENT', ...lines, 'END:VEVENT'].join('\r\n')
}

import { validDay } from './property.ts'

const lineFeed = 10
const carriageReturn = 13
const space = 32
const tab = 9
/** What a line after a line's end may begin with and still belong to it. */
const continuing = new Set([space, tab, lineFeed, carriageReturn])

/** Size of the store for lines, which grows only for a line that is longer. */
const firstBytes = 128 * 1024

/** The longest line whose content can be read. Five thousand periods are shorter. */
export const maxTextBytes = 256 * 1024
/** Parts of a folded line that are looked at before the caller may rest. */
const partsPerLook = 512

const colon = 58
const semicolon = 59
const upperA = 65
const lowerA = 97
const lowerZ = 122

const zero = 48
const dayDigits = 8
const dateParameter = ';VALUE=DATE'

/** The properties that count in any component. */
const names = [
  'BEGIN',
  'END',
  'DTSTART',
  'DTEND',
  'UID',
  'DURATION',
  'EXDATE',
  'FREEBUSY',
  'METHOD',
  'RDATE',
  'RECURRENCE-ID',
  'REFRESH-INTERVAL',
  'RRULE',
  'STATUS',
  'TRANSP',
  'TZID',
  'TZOFFSETTO',
  'X-PUBLISHED-TTL',
  'X-WR-TIMEZONE',
]
const longestName = Math.max(...names.map((name) => name.length))

/**
 * Reads a file's lines, unfolded (RFC 5545, section 3.1). Lines end with CRLF or LF, blank ones do not count, and a line
 * that begins with a space or a tab continues the one before. Parts are joined as bytes, because senders fold within a
 * character.
 *
 * Text is read as Latin-1, one character for each byte: everything that counts is ASCII, except names of events and of
 * time zones, which are compared and never shown, and are equal only if their bytes are.
 */
export class Lines {
  /** The number of the line's first part in the file, from 1. */
  number = 0
  /** The lines that are whole. */
  private bytes: Buffer = Buffer.alloc(0)
  /** Holds {@link bytes}, and behind them the beginning of a line whose rest has not come yet. */
  private store: Buffer = Buffer.alloc(firstBytes)
  private stored = 0
  private isFirst = true
  private position = 0
  private partsRead = 0
  private start = 0
  private firstEnd = 0
  private end = 0

  /** Takes more of the file. All lines that are whole must have been read. */
  add(piece: Uint8Array): void {
    if (this.bytes.length > 0) this.store.copyWithin(0, this.bytes.length, this.stored)
    const rest = this.stored - this.bytes.length
    this.stored = rest + piece.length
    if (this.stored > this.store.length) this.grow()
    this.store.set(piece, rest)
    this.showUntil(this.lastBeginning(rest))
  }

  /** What is left is whole, because nothing follows. */
  endFile(): void {
    this.add(new Uint8Array())
    this.showUntil(this.stored)
  }

  private grow(): void {
    const larger = Buffer.alloc(Math.max(this.stored, this.store.length * 2))
    larger.set(this.store)
    this.store = larger
  }

  /** Returns where the last line begins that is not known to be whole. Looks only at bytes from `start` on. */
  private lastBeginning(start: number): number {
    for (let index = this.stored - 1; index >= Math.max(1, start); index -= 1) {
      if (this.store[index - 1] === lineFeed && !continuing.has(this.store[index] ?? 0)) return index
    }
    return 0
  }

  private showUntil(end: number): void {
    this.bytes = this.store.subarray(0, end)
    this.position = 0
    if (!this.isFirst || end === 0) return
    this.isFirst = false
    const hasMark = this.bytes[0] === 0xef && this.bytes[1] === 0xbb && this.bytes[2] === 0xbf
    if (hasMark) this.position = 3
  }

  /** Goes to the next line that is not blank. Returns false at the end of the file. */
  advance(): boolean {
    for (;;) {
      if (this.position >= this.bytes.length) return false
      this.start = this.position
      this.firstEnd = this.endOfPart()
      this.end = this.firstEnd
      this.number = this.partsRead
      if (this.firstEnd > this.start) return true
    }
  }

  /**
   * Reads on in the line's further parts. Returns false if there are more, so that a line of many parts does not hold up
   * anything else.
   */
  complete(): boolean {
    for (let read = 0; read < partsPerLook; read += 1) {
      const first = this.bytes[this.position]
      const isContinuation = first === space || first === tab
      const isBlank = first === lineFeed || first === carriageReturn
      if (!(isContinuation || isBlank)) return true
      const partStart = this.position
      const partEnd = this.endOfPart()
      if (isContinuation) this.end = partEnd
      // A carriage return within a line is no blank line, so the line that begins with it is read by itself.
      if (isBlank && partEnd > partStart) {
        this.position = partStart
        this.partsRead -= 1
        return true
      }
    }
    return false
  }

  /**
   * Returns the property's name in upper case, or an empty string if it is none of {@link names} or the line has none. Only
   * of a complete line.
   */
  name(): string {
    const { bytes, start } = this
    const most = Math.min(this.firstEnd, start + longestName + 1)
    let end = start
    while (end < most && bytes[end] !== colon && bytes[end] !== semicolon) end += 1
    if (end < most) return this.nameUntil(end)
    if (this.end === this.firstEnd) return ''
    // The line is folded within its name.
    const unfolded = this.text() ?? ''
    return unfolded.slice(0, Math.max(0, unfolded.search(/[:;]/))).toUpperCase()
  }

  /** Compares bytes, because most lines do not count and need not become text. */
  private nameUntil(end: number): string {
    const length = end - this.start
    for (const name of names) {
      if (name.length === length && this.hasAt(this.start, name)) return name
    }
    return ''
  }

  /** Returns true if a text, which is in upper case, stands at a position in any case. */
  private hasAt(position: number, text: string): boolean {
    for (let index = 0; index < text.length; index += 1) {
      const byte = this.bytes[position + index] ?? 0
      const isLowerCase = byte >= lowerA && byte <= lowerZ
      if ((isLowerCase ? byte - lowerA + upperA : byte) !== text.charCodeAt(index)) return false
    }
    return true
  }

  /** Returns true if the line is this text, which is in upper case, in any case. Only of a complete line. */
  is(text: string): boolean {
    if (this.end !== this.firstEnd || this.end - this.start !== text.length) return false
    return this.hasAt(this.start, text)
  }

  /**
   * Returns the number of the day if the line is a property that is nothing but a date, such as
   * `DTSTART;VALUE=DATE:20261205` or `DTSTART:20261205`, and null for any other line. Only of a complete line.
   */
  plainDay(name: string): number | null {
    const { bytes, end } = this
    if (end !== this.firstEnd) return null
    const valueStart = end - dayDigits
    const isPlain = this.isHead(name, '', valueStart) || this.isHead(name, dateParameter, valueStart)
    if (!isPlain) return null
    let number = 0
    for (let index = valueStart; index < end; index += 1) {
      const digit = (bytes[index] ?? 0) - zero
      if (digit < 0 || digit > 9) return null
      number = number * 10 + digit
    }
    return validDay(Math.floor(number / 10_000), Math.floor(number / 100) % 100, number % 100)
  }

  /** Returns true if the line has this name and these parameters, and its value begins at `valueStart`. */
  private isHead(name: string, parameters: string, valueStart: number): boolean {
    const length = name.length + parameters.length + 1
    if (valueStart - this.start !== length || this.bytes[valueStart - 1] !== colon) return false
    return this.hasAt(this.start + name.length, parameters)
  }

  /**
   * Returns a number that stands for the value of a line without parameters; null if it has any, or is folded. Two values
   * have the same number only by an accident that no file will ever see. Only of a complete line.
   */
  plainFingerprint(name: string): number | null {
    const { bytes, start, end } = this
    const valueStart = start + name.length + 1
    const isPlain = end === this.firstEnd && bytes[valueStart - 1] === colon
    if (!isPlain || isBlank(bytes[valueStart]) || isBlank(bytes[end - 1])) return null
    return fingerprintOf(end - valueStart, (index) => bytes[valueStart + index] ?? 0)
  }

  /** Returns the line, or null if it is longer than {@link maxTextBytes}. Only of a complete line. */
  text(): string | null {
    if (this.end - this.start > maxTextBytes) return null
    const whole = this.bytes.toString('latin1', this.start, this.end)
    if (this.end === this.firstEnd) return whole
    return whole.replace(/(?:\r*\n)+[ \t]/g, '')
  }

  /** Reads one line as it is in the file, and returns where its content ends. */
  private endOfPart(): number {
    const start = this.position
    const found = this.bytes.indexOf(lineFeed, start)
    let end = found < 0 ? this.bytes.length : found
    this.position = end + 1
    this.partsRead += 1
    while (end > start && this.bytes[end - 1] === carriageReturn) end -= 1
    return end
  }
}

/** Returns true for what is trimmed from a value in ASCII, and for no value at all. */
function isBlank(byte: number | undefined): boolean {
  return byte === undefined || byte <= space || byte >= 0x80
}

/**
 * Returns a number that stands for a text (FNV-1a twice, 52 bits in all), because a file may have ten thousand of them
 * that are only compared.
 */
export function fingerprintOf(length: number, codeAt: (index: number) => number): number {
  let high = 0x811c9dc5
  let low = 0x050c5d1f
  for (let index = 0; index < length; index += 1) {
    const code = codeAt(index)
    high = Math.imul(high ^ code, 0x01000193)
    low = Math.imul(low ^ code, 0x01000193)
  }
  return (high >>> 0) * 2 ** 20 + (low & 0xfffff)
}

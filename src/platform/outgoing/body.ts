import type * as http from 'node:http'
import { FileContent, isKnownEncoding } from './content.ts'

/** A body's content, or why there is none. */
export type ReadBody = FileContent | 'too_large' | 'cut'

/** What is read of a response that has no file. */
export const noContent = new FileContent(new Uint8Array(), null)

/**
 * Reads a response's body as it is sent. Without its limit, a server could fill our memory with an endless body. A body
 * whose encoding is unknown is read as empty.
 *
 *     reading ── the message ends ──▶ read
 *        ├── an error of the connection, or closed before the end ──▶ cut
 *        └── more bytes than allowed ───────────────────────────────▶ too_large
 *
 * All but the first are final, and close the connection.
 */
export class FileBody {
  readonly end: Promise<ReadBody>
  private readonly outcome = Promise.withResolvers<ReadBody>()
  private readonly sent: BoundedBytes
  private receivedBytes = 0

  /** @param maxBytes maximum size of the body as it is sent */
  constructor(
    private readonly message: http.IncomingMessage,
    private readonly maxBytes: number,
  ) {
    this.end = this.outcome.promise
    this.sent = new BoundedBytes(maxBytes)
    const { headers, socket } = message
    message.on('error', () => this.finish('cut'))
    message.on('close', () => this.closeMessage())
    const encoding = encodingOf(headers)
    if (!isKnownEncoding(encoding)) this.finish(noContent)
    else if (Number(headers['content-length']) > maxBytes) this.finish('too_large')
    else {
      // What frames the body counts as well: chunks of one byte each, or lines without an end after the last chunk.
      socket.on('data', (piece: Buffer) => this.countReceived(piece))
      message.on('data', (piece: Buffer) => this.keep(piece))
      message.on('end', () => this.finish(new FileContent(this.sent.take(), encoding)))
    }
  }

  private countReceived({ length }: Buffer): void {
    this.receivedBytes += length
    if (this.receivedBytes > this.maxBytes * maxFraming) this.finish('too_large')
  }

  private keep(piece: Buffer): void {
    if (!this.sent.add(piece)) this.finish('too_large')
  }

  private closeMessage(): void {
    if (!this.message.complete) this.finish('cut')
  }

  /** Sets the outcome, unless there is one, and gives everything back. */
  private finish(outcome: ReadBody): void {
    this.outcome.resolve(outcome)
    this.sent.clear()
    this.message.socket.destroy()
  }
}

/** How many times the size of a body may come over its connection. */
const maxFraming = 2

/** Returns the name of a content's encoding; null if it is not encoded. */
function encodingOf(headers: http.IncomingHttpHeaders): string | null {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  return encoding === '' || encoding === 'identity' ? null : encoding
}

const firstBytes = 64 * 1024

/**
 * Bytes up to a limit, in one buffer that grows. The pieces are copied, because each could keep a much larger buffer
 * alive. Whatever is no longer needed is freed at once (`transfer`), because a garbage collector notices large buffers
 * late: four bodies at a time would take hundreds of MiB instead of a few.
 */
class BoundedBytes {
  private buffer = new ArrayBuffer(0)
  private length = 0

  constructor(private readonly limit: number) {}

  /** Returns false if there are more bytes than allowed. */
  add(piece: Uint8Array): boolean {
    const length = this.length + piece.length
    if (length > this.limit) return false
    if (length > this.buffer.byteLength) this.grow(length)
    new Uint8Array(this.buffer).set(piece, this.length)
    this.length = length
    return true
  }

  private grow(length: number): void {
    const doubled = Math.max(length, this.buffer.byteLength * 2, firstBytes)
    this.buffer = this.buffer.transfer(Math.min(doubled, this.limit))
  }

  /** Returns the bytes and forgets them. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = new Uint8Array(this.buffer.transfer(this.length))
    this.buffer = new ArrayBuffer(0)
    this.length = 0
    return taken
  }

  clear(): void {
    this.buffer = this.buffer.transfer(0)
    this.length = 0
  }
}

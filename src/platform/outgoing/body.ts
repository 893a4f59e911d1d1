import type * as http from 'node:http'
import type { Transform } from 'node:stream'
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib'

/** A body's bytes, or why there are none. */
export type ReadBody = Uint8Array | 'too_large' | 'cut'

/** Limits of a body. */
export interface BodyLimits {
  /** Maximum size as it is sent. */
  maxBytes: number
  maxDecompressedBytes: number
}

/**
 * Decoders of content, by the encoding's name. Each decodes a stream, so that no body is decoded beyond its limit. There
 * is none for Brotli and Zstandard, whose windows take up to 16 MiB and more for each body, whatever its size.
 */
const decoders: Record<string, (first: Buffer) => Transform> = {
  gzip: () => createGunzip(),
  'x-gzip': () => createGunzip(),
  deflate: (first) => (isZlib(first) ? createInflate() : createInflateRaw()),
}

/** Some servers send a bare DEFLATE stream as `deflate`. The first byte of a zlib stream names its method, 8. */
function isZlib(first: Buffer): boolean {
  return ((first[0] ?? 0) & 0x0f) === 8
}

/**
 * Reads a response's body. Without its limits, a server could fill our memory with a few kilobytes that decompress to
 * gigabytes, or with an endless body. A body whose encoding is unknown or broken is read as empty.
 *
 *     reading ── the message ends ──▶ decoding the rest ──▶ read
 *        ├── an error of the connection, or closed before the end ──▶ cut
 *        ├── more bytes than allowed, sent or decoded ──────────────▶ too_large
 *        └── an error of the decoder, or an unknown encoding ───────▶ read, as empty
 *
 * All but the first are final, and close the connection.
 */
export class FileBody {
  readonly end: Promise<ReadBody>
  private readonly outcome = Promise.withResolvers<ReadBody>()
  private readonly decoded: BoundedBytes
  private decoder: Transform | null = null
  private sentBytes = 0
  private receivedBytes = 0

  constructor(
    private readonly message: http.IncomingMessage,
    private readonly limits: BodyLimits,
  ) {
    this.end = this.outcome.promise
    this.decoded = new BoundedBytes(limits.maxDecompressedBytes)
    const { headers, socket } = message
    message.on('error', () => this.finish('cut'))
    message.on('close', () => this.closeMessage())
    const encoding = encodingOf(headers)
    if (encoding !== null && !Object.hasOwn(decoders, encoding)) this.finish(new Uint8Array())
    else if (Number(headers['content-length']) > limits.maxBytes) this.finish('too_large')
    else {
      // What frames the body counts as well: chunks of one byte each, or lines without an end after the last chunk.
      socket.on('data', (piece: Buffer) => this.countReceived(piece))
      message.on('data', (piece: Buffer) => this.read(piece, encoding))
      message.on('end', () => this.endMessage())
    }
  }

  private countReceived({ length }: Buffer): void {
    this.receivedBytes += length
    if (this.receivedBytes > this.limits.maxBytes * maxFraming) this.finish('too_large')
  }

  private read(piece: Buffer, encoding: string | null): void {
    this.sentBytes += piece.length
    if (this.sentBytes > this.limits.maxBytes) this.finish('too_large')
    else if (encoding === null) this.keep(piece)
    else this.decode(piece, encoding)
  }

  private keep(piece: Buffer): void {
    if (!this.decoded.add(piece)) this.finish('too_large')
  }

  private decode(piece: Buffer, encoding: string): void {
    this.decoder ??= this.openDecoder(piece, encoding)
    if (this.decoder.write(piece)) return
    this.message.pause()
  }

  private openDecoder(first: Buffer, encoding: string): Transform {
    const decoder = (decoders[encoding] as (first: Buffer) => Transform)(first)
    decoder.on('drain', () => this.message.resume())
    decoder.on('data', (piece: Buffer) => this.keep(piece))
    decoder.on('error', () => this.finish(new Uint8Array()))
    decoder.on('end', () => this.finish(this.decoded.take()))
    return decoder
  }

  private endMessage(): void {
    if (this.decoder) this.decoder.end()
    else this.finish(this.decoded.take())
  }

  private closeMessage(): void {
    if (!this.message.complete) this.finish('cut')
  }

  /** Sets the outcome, unless there is one, and gives everything back. */
  private finish(outcome: ReadBody): void {
    this.outcome.resolve(outcome)
    this.decoder?.destroy()
    this.decoded.clear()
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
  take(): Uint8Array {
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

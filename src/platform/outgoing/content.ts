import type { Transform } from 'node:stream'
import { createGunzip, createInflate, createInflateRaw } from 'node:zlib'

/**
 * Decoders of content, by the encoding's name. There is none for Brotli and Zstandard, whose windows take up to 16 MiB and
 * more for each body, whatever its size.
 */
const decoders: Record<string, (bytes: Uint8Array) => Transform> = {
  gzip: () => createGunzip({ chunkSize: pieceBytes }),
  'x-gzip': () => createGunzip({ chunkSize: pieceBytes }),
  deflate: (bytes) =>
    isZlib(bytes) ? createInflate({ chunkSize: pieceBytes }) : createInflateRaw({ chunkSize: pieceBytes }),
}

const pieceBytes = 64 * 1024

/** Some servers send a bare DEFLATE stream as `deflate`. The first byte of a zlib stream names its method, 8. */
function isZlib([first = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8
}

/** Returns true if content in an encoding can be decoded. Null is content that is not encoded. */
export function isKnownEncoding(encoding: string | null): boolean {
  return encoding === null || Object.hasOwn(decoders, encoding)
}

/** Thrown if content is not encoded as its headers say, or if its encoding is unknown. */
export class UnreadableContent extends Error {}

/**
 * The content of a file that was fetched whole, still as it was sent. It is decoded only while it is read, and in pieces,
 * so that a few kilobytes that decompress to gigabytes take no more memory than any others: whoever reads stops.
 */
export class FileContent {
  /** @param encoding null if the bytes are not encoded */
  constructor(
    private readonly bytes: Uint8Array<ArrayBuffer>,
    private readonly encoding: string | null,
  ) {}

  /**
   * Yields the decoded bytes in pieces, each of which may be used only until the next one is asked for. Can be called
   * once, because the bytes are freed at the end.
   *
   * @throws UnreadableContent at the end of what can be decoded
   */
  async *pieces(): AsyncGenerator<Uint8Array> {
    const { bytes, encoding } = this
    if (encoding !== null) {
      yield* decoded(bytes, encoding)
      return
    }
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      yield bytes.subarray(start, start + pieceBytes)
    }
    free(bytes)
  }
}

async function* decoded(bytes: Uint8Array<ArrayBuffer>, encoding: string): AsyncGenerator<Uint8Array> {
  const open = isKnownEncoding(encoding) ? decoders[encoding] : undefined
  // An empty body is no stream of any encoding.
  if (!open || bytes.length === 0) throw new UnreadableContent()
  const decoder = open(bytes)
  try {
    decoder.end(bytes)
    for await (const piece of decoder) {
      yield piece
      // The decoder goes on in a new buffer once it has filled one.
      if (piece.length === pieceBytes) free(piece)
    }
    // Not if the reader stops early, because the decoder may still be at work on them.
    free(bytes)
  } catch {
    throw new UnreadableContent()
  } finally {
    decoder.destroy()
  }
}

/** Frees memory at once, because a garbage collector notices buffers late. */
function free({ buffer, byteLength }: Uint8Array<ArrayBuffer>): void {
  if (byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0)
}

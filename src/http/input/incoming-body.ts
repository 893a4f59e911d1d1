/** After a piece below this size, the reader waits for one turn of the event loop. */
const smallPieceBytes = 16 * 1024

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'>

/**
 * A request's body as it arrives. The route reads it, and whatever the route leaves unread is thrown away once the
 * response has been sent (see unread-body.ts). Both take their pieces from here, so that neither misses a piece.
 *
 * After a small piece, the next one is asked for only in the following turn of the event loop. By then, the runtime has
 * joined everything that has arrived. Without this pause, a chunked body of 10 MiB in chunks of a byte would be ten
 * million pieces, which keep the event loop busy for seconds at a time and take up a gigabyte.
 */
export class IncomingBody {
  /** The length that the client has announced; null if the body is chunked. */
  readonly declaredBytes: number | null
  /** Releases the memory that is reserved for the body; undefined if none is. */
  release: (() => void) | undefined
  /** The body as a JSON object, from when it is read. */
  json: Promise<Record<string, unknown>> | undefined
  private readonly isChunked: boolean
  private reader: Reader | undefined
  private pending: Promise<Uint8Array | null> | undefined
  private arrivedBytes = 0
  private hasEnded = false
  private isLastSmall = false

  constructor(readonly request: Request) {
    this.declaredBytes = declaredLength(request.headers)
    this.isChunked = request.headers.has('transfer-encoding')
  }

  /** True if the request has no body. */
  get isAbsent(): boolean {
    return this.declaredBytes === null && !this.isChunked && !this.request.body
  }

  /** True if nothing more of the body will arrive. */
  get isComplete(): boolean {
    return this.hasEnded || this.arrivedBytes === this.declaredBytes
  }

  /** True if the runtime does not hand over the body, as for GET and HEAD requests. */
  get isHidden(): boolean {
    return !this.reader && !this.request.body
  }

  /**
   * Returns the next piece, or null at the end. The server reads from the connection only while a piece is asked for.
   * A caller that stops waiting loses nothing: whoever asks next gets the same piece.
   */
  next(): Promise<Uint8Array | null> {
    this.pending ??= this.receive().finally(() => {
      this.pending = undefined
    })
    return this.pending
  }

  private async receive(): Promise<Uint8Array | null> {
    if (this.isComplete) return null
    if (this.isLastSmall) await nextTurn()
    this.reader ??= this.request.body?.getReader() as Reader | undefined
    const piece = await this.reader?.read()
    if (!piece?.value) {
      this.hasEnded = true
      return null
    }
    this.arrivedBytes += piece.value.byteLength
    this.isLastSmall = piece.value.byteLength < smallPieceBytes
    return piece.value
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/**
 * Returns the length of the body that the client has announced; null if it has announced none. The runtime joins equal
 * repeated headers (`5, 5`) and refuses different ones.
 */
export function declaredLength(headers: Headers): number | null {
  const declared = headers.get('content-length')
  return declared === null ? null : Number.parseInt(declared, 10)
}

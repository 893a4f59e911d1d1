/** What is read of a response to a hint. */
export interface ResponseHead {
  status: number
  /** What the response asks to wait; null for nothing. */
  retryAfterSeconds: number | null
}

const maxHeadBytes = 64 * 1024
/** The longest value that is looked at: a date as HTTP writes it has 29 characters. */
const maxRetryAfterLength = 40
const interimLimit = 200

/**
 * Reads the head of a response as it arrives. A receiver may send any bytes in any pieces, so each byte is looked at
 * once, and nothing beyond 64 KiB: otherwise one response would hold up every other request of the process.
 */
export class HeadReader {
  private readonly bytes = Buffer.alloc(maxHeadBytes)
  private length = 0
  private headStart = 0

  /**
   * Takes what arrived.
   *
   * @returns the head once it is complete; null before
   * @throws Error when it is too long, or no HTTP
   */
  push(chunk: Buffer): ResponseHead | null {
    // The end may have begun in the piece before: "\r\n" there, "\r\n" here.
    let from = Math.max(this.headStart, this.length - 2)
    this.length += chunk.copy(this.bytes, this.length)
    for (;;) {
      const end = this.endAfter(from)
      if (end === null && this.length === maxHeadBytes)
        throw new Error('The head of the response is too long')
      if (end === null) return null
      const head = this.bytes.toString('latin1', this.headStart, end)
      const status = statusOf(head)
      // An interim response, such as 103, comes before the one that counts.
      if (status >= interimLimit) return { status, retryAfterSeconds: retryAfterOf(head) }
      this.headStart = end
      from = end
    }
  }

  /** The position after an empty line; some servers leave out the carriage returns. */
  private endAfter(from: number): number | null {
    const text = this.bytes.subarray(0, this.length)
    const ends = ['\n\n', '\n\r\n'].flatMap((mark) => {
      const at = text.indexOf(mark, from, 'latin1')
      return at < 0 ? [] : [at + mark.length]
    })
    return ends.length === 0 ? null : Math.min(...ends)
  }
}

function statusOf(head: string): number {
  const line = head.slice(0, head.indexOf('\n'))
  const status = /^HTTP\/1\.[01] (\d{3})(?: |\r?$)/.exec(line)?.[1]
  if (!status) throw new Error('The response is not HTTP')
  return Number(status)
}

/** Seconds, or a date as HTTP writes it. */
function retryAfterOf(head: string): number | null {
  const name = 'retry-after:'
  const line = head.split('\n').find((text) => text.slice(0, name.length).toLowerCase() === name)
  const value = line?.slice(name.length).trim() ?? ''
  if (value.length > maxRetryAfterLength) return null
  if (/^\d+$/.test(value)) return Number(value) || null
  const seconds = value.endsWith(' GMT') ? (Date.parse(value) - Date.now()) / 1000 : 0
  return seconds > 0 ? seconds : null
}

import { rateLimited } from '../core/errors.ts'
import { KeyBytes } from './memory.ts'

/** Bytes of large responses of one key that may wait to be read. */
const maxOfKey = 8 * 1024 * 1024
/** How long a response may take to be read: one read byte by byte would otherwise be kept for hours. */
const maxMilliseconds = 120_000

const unsent = new KeyBytes()

/**
 * Takes room for a response that its reader may leave unread.
 *
 * @returns gives it back
 * @throws DomainError `rate_limit` while as much of the key's waits to be read
 */
export function takeUnsent(keyId: number, bytes: number): () => void {
  const before = unsent.of(keyId)
  if (before > 0 && before + bytes > maxOfKey)
    throw rateLimited(retryMilliseconds, 'Too many responses to this key are still being read')
  return unsent.take(keyId, bytes)
}

const retryMilliseconds = 5000

/** Produces the next bytes of a stream, or null at its end. */
type Next = () => Promise<Uint8Array<ArrayBuffer> | null>

/**
 * A stream that is produced no faster than it is read, and ends with a broken connection when that takes too long.
 *
 * @param end called once, however it ends
 * @param longest milliseconds that it may take
 */
export function pacedStream(
  next: Next,
  end: (error?: unknown) => void,
  longest = maxMilliseconds,
): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasEnded = false
  const finish = (error?: unknown) => {
    // What is being made when the time is over fails once more.
    if (hasEnded) return
    hasEnded = true
    clearTimeout(timer)
    end(error)
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const tooSlow = new Error(`The response was not read within ${longest / 1000} s`)
        timer = setTimeout(() => {
          controller.error(tooSlow)
          finish(tooSlow)
        }, longest)
      },
      async pull(controller) {
        try {
          const bytes = await next()
          if (bytes) return controller.enqueue(bytes)
          controller.close()
          finish()
        } catch (error) {
          controller.error(error)
          finish(error)
        }
      },
      cancel() {
        finish()
      },
    },
    { highWaterMark: 0 },
  )
}

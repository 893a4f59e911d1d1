import { rateLimited } from '../core/errors.ts'
import { KeyBytes } from './memory.ts'

/** Maximum number of bytes in a key's large responses that have not been read yet. */
const maxOfKey = 8 * 1024 * 1024
/** Time limit for reading a response. Without it, a response read byte by byte would be kept for hours. */
const maxMilliseconds = 120_000

const unsent = new KeyBytes()

/**
 * Reserves memory for a response that the client may leave unread.
 *
 * @returns a function that releases the memory
 * @throws DomainError `rate_limit` if too many bytes of the key's responses are still unread
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
 * Returns a stream that is produced no faster than it is read. If reading takes too long, the connection is dropped.
 *
 * @param end called once, however the stream ends
 * @param longest maximum duration in milliseconds
 */
export function pacedStream(
  next: Next,
  end: (error?: unknown) => void,
  longest = maxMilliseconds,
): ReadableStream<Uint8Array> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let hasEnded = false
  const finish = (error?: unknown) => {
    // If the time runs out while `next` is running, the late bytes cannot be enqueued, which ends the stream again.
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

import { collectGarbageOccasionally } from './memory.ts'
import { pacedStream, takeUnsent } from './unsent.ts'

/** The operating system takes this many bytes at once: a smaller response is sent and forgotten. */
const smallBytes = 64 * 1024
const pieceBytes = 64 * 1024

interface Answered {
  response: unknown
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
  caller?: { keyId: number } | undefined
}

/**
 * Sends a large response in pieces, as its reader takes them: what slow readers leave unread is bounded for each key, and
 * in time. A smaller one is sent as the text that it was measured by.
 *
 * @throws DomainError `rate_limit` while too much of the key's waits to be read
 */
export function sendLarge({ response, set, caller }: Answered): Response | undefined {
  // A `Response` or a status of Elysia's is sent as it is.
  if (!caller || (response as object | null)?.constructor !== Object) return undefined
  const text = JSON.stringify(response)
  const status = Number(set.status ?? 200)
  const headers = { ...(set.headers as Record<string, string>), 'content-type': 'application/json' }
  if (text.length <= smallBytes) return new Response(text, { status, headers })
  const bytes = Buffer.from(text)
  collectGarbageOccasionally(bytes.length)
  const giveBack = takeUnsent(caller.keyId, bytes.length)
  let at = 0
  const next = async () => {
    const piece = bytes.subarray(at, at + pieceBytes)
    at += pieceBytes
    return piece.length > 0 ? piece : null
  }
  return new Response(pacedStream(next, giveBack), { status, headers })
}

import { collectGarbageOccasionally } from './memory.ts'
import { pacedStream, takeUnsent } from './unsent.ts'

/** The operating system accepts this many bytes in one write, so smaller responses never wait in memory. */
const smallBytes = 64 * 1024
const pieceBytes = 64 * 1024

interface Answered {
  response: unknown
  set: { status?: number | string; headers: Record<string, string | number | undefined> }
  caller?: { keyId: number } | undefined
}

/**
 * Sends a large response in pieces as the client reads it, so that a key's slow clients leave only a limited number
 * of bytes unread, and only for a limited time. A smaller response is sent whole.
 *
 * @throws DomainError `rate_limit` while too many bytes of the key's responses are unread
 */
export function sendLarge({ response, set, caller }: Answered): Response | undefined {
  // Elysia sends a `Response` or one of its own status objects unchanged.
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

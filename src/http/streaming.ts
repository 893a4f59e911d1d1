import type { Logger } from 'pino'
import { type ResponseContext, requestIdOf } from './envelope.ts'
import { collectGarbageOccasionally } from './memory.ts'
import { pacedStream } from './unsent.ts'

/** A response up to this size is sent whole, so that a failure while it is produced still yields a proper error. */
const maxBufferedBytes = 1024 * 1024

/**
 * Responds 200 with JSON text that is produced in chunks. A large response is produced while it is sent, no faster than
 * the client reads it, so that it is never in memory as a whole. If a chunk then fails, the connection is dropped
 * mid-document.
 *
 * @throws any error that `chunks` throws before anything has been sent
 */
export async function streamJson(
  context: ResponseContext,
  chunks: AsyncGenerator<string>,
  log: Logger,
): Promise<Response> {
  const headers = {
    ...(context.set.headers as Record<string, string>),
    'content-type': 'application/json',
  }
  const held: Uint8Array<ArrayBuffer>[] = []
  let heldBytes = 0
  while (heldBytes <= maxBufferedBytes) {
    const { done, value } = await chunks.next()
    if (done) return new Response(new Blob(held), { headers })
    const bytes = encoder.encode(value)
    held.push(bytes)
    heldBytes += bytes.length
  }
  const next = async () => {
    const early = held.shift()
    if (early) return early
    const { done, value } = await chunks.next()
    if (done) return null
    const bytes = encoder.encode(value)
    collectGarbageOccasionally(bytes.length)
    return bytes
  }
  const body = pacedStream(next, (error) => {
    if (error) log.error({ err: error, request_id: requestIdOf(context) }, 'A response was cut off')
    chunks.return(undefined).catch(() => {})
  })
  return new Response(body, { headers })
}

const encoder = new TextEncoder()

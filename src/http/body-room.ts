import { DomainError } from '../core/errors.ts'
import { KeyBytes } from './memory.ts'

/** Bodies up to this size never wait, because even many of them take negligible memory. */
export const smallBodyBytes = 64 * 1024
/** Maximum bytes of larger bodies that are being read or processed, per key and in this process. */
const maxOfKey = 16 * 1024 * 1024
const maxOfProcess = 96 * 1024 * 1024

/** Maximum number of waiting bodies, per key and in this process. About a megabyte of each has already arrived. */
const maxWaitingOfKey = 4
const maxWaiting = 64

interface Waiting {
  keyId: number
  bytes: number
  begin(giveBack: () => void): void
}

const reading = new KeyBytes()
const queue = new Set<Waiting>()

/**
 * Waits until a body of this size may be read. Nothing is read from a connection while its body waits; otherwise a few
 * keys could make the process hold everything they send.
 *
 * @param signal ends the wait once the body's time limit expires or the client disconnects
 * @returns a function that releases the room; call it once the request has been answered
 * @throws DomainError `conflict` with a retry time if no room became free
 */
export async function takeBodyRoom(keyId: number, bytes: number, signal: AbortSignal): Promise<() => void> {
  if (bytes <= smallBodyBytes) return () => {}
  return fits(keyId, bytes) ? reserve(keyId, bytes) : turn(keyId, bytes, signal)
}

function reserve(keyId: number, bytes: number): () => void {
  const giveBack = reading.take(keyId, bytes)
  return () => {
    giveBack()
    beginWaiting()
  }
}

/** Returns true if a body fits. A body that would be the only one always fits, so no limit blocks it forever. */
function fits(keyId: number, bytes: number): boolean {
  const ofKey = reading.of(keyId)
  const isWithinKey = ofKey === 0 || ofKey + bytes <= maxOfKey
  return isWithinKey && (reading.total === 0 || reading.total + bytes <= maxOfProcess)
}

async function turn(keyId: number, bytes: number, signal: AbortSignal): Promise<() => void> {
  const ofSameKey = [...queue].filter((waiting) => waiting.keyId === keyId).length
  if (ofSameKey >= maxWaitingOfKey || queue.size >= maxWaiting) throw tooMany()
  const { promise, resolve, reject } = Promise.withResolvers<() => void>()
  const waiting = { keyId, bytes, begin: resolve }
  queue.add(waiting)
  const giveUp = () => {
    queue.delete(waiting)
    reject(tooMany())
  }
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp)
  try {
    return await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

function tooMany(): DomainError {
  return new DomainError('conflict', 'Too many large bodies are being sent at once; try again', [], 1)
}

/** Admits the waiting bodies that fit, the longest-waiting first. */
function beginWaiting(): void {
  for (const waiting of queue) {
    if (!fits(waiting.keyId, waiting.bytes)) continue
    queue.delete(waiting)
    waiting.begin(reserve(waiting.keyId, waiting.bytes))
  }
}

import { DomainError } from '../core/errors.ts'
import { KeyBytes } from './memory.ts'

/** A body up to this size never waits: so many of them take no memory worth counting. */
export const smallBodyBytes = 64 * 1024
/** Bytes of larger bodies that are being read, or worked on, for one key and in this process. */
const maxOfKey = 16 * 1024 * 1024
const maxOfProcess = 96 * 1024 * 1024

/** Bodies that wait, for one key and in this process: each takes about a megabyte of what has arrived of it. */
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
 * Waits until a body of this size may be read. Without it a few keys could have the process hold as much as they send:
 * nothing is read from a connection whose body waits.
 *
 * @param signal ends the wait, when the time for the body is over or its sender has gone
 * @returns gives the room back; call it once the request has been answered
 * @throws DomainError `conflict` with a retry time when no room came
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

/** The first of a key always fits, and the first of all: no setting of the bounds can keep a body out for good. */
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

/** The longest waiting comes first, as far as there is room. */
function beginWaiting(): void {
  for (const waiting of queue) {
    if (!fits(waiting.keyId, waiting.bytes)) continue
    queue.delete(waiting)
    waiting.begin(reserve(waiting.keyId, waiting.bytes))
  }
}

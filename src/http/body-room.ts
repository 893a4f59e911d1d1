import { DomainError } from '../core/errors.ts'

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
  begin(): void
}

let total = 0
const ofKeys = new Map<number, number>()
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
  if (fits(keyId, bytes)) reserve(keyId, bytes)
  else await turn(keyId, bytes, signal)
  let isTaken = true
  return () => {
    if (!isTaken) return
    isTaken = false
    total -= bytes
    ofKeys.set(keyId, ofKey(keyId) - bytes)
    if (ofKey(keyId) === 0) ofKeys.delete(keyId)
    beginWaiting()
  }
}

function reserve(keyId: number, bytes: number): void {
  total += bytes
  ofKeys.set(keyId, ofKey(keyId) + bytes)
}

function ofKey(keyId: number): number {
  return ofKeys.get(keyId) ?? 0
}

/** The first of a key always fits, and the first of all: no setting of the bounds can keep a body out for good. */
function fits(keyId: number, bytes: number): boolean {
  const isWithinKey = ofKey(keyId) === 0 || ofKey(keyId) + bytes <= maxOfKey
  return isWithinKey && (total === 0 || total + bytes <= maxOfProcess)
}

async function turn(keyId: number, bytes: number, signal: AbortSignal): Promise<void> {
  const ofSameKey = [...queue].filter((waiting) => waiting.keyId === keyId).length
  if (ofSameKey >= maxWaitingOfKey || queue.size >= maxWaiting) throw tooMany()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const waiting = { keyId, bytes, begin: resolve }
  queue.add(waiting)
  const giveUp = () => {
    queue.delete(waiting)
    reject(tooMany())
  }
  if (signal.aborted) giveUp()
  signal.addEventListener('abort', giveUp)
  try {
    await promise
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

function tooMany(): DomainError {
  return new DomainError('conflict', 'Too many large bodies are being sent at once; try again', [], 1)
}

/** Whoever has waited longest comes first, as far as there is room. */
function beginWaiting(): void {
  for (const waiting of queue) {
    if (!fits(waiting.keyId, waiting.bytes)) continue
    queue.delete(waiting)
    reserve(waiting.keyId, waiting.bytes)
    waiting.begin()
  }
}

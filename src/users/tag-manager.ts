import type { JobHandler } from '../infra/outbox.ts'

const timeoutMilliseconds = 5000

/** The subscriber of `UserCreated`: posts the event to the tag manager; does nothing where none is set. */
export function tagManagerTracking(url: string | undefined): JobHandler {
  return async (event) => {
    if (!url) return
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ event: 'UserCreated', ...event }),
      signal: AbortSignal.timeout(timeoutMilliseconds),
    })
    if (!response.ok) throw new Error(`The tag manager answered ${response.status}`)
  }
}

import { describeNetworkError, isLasting, networkCauseOf, signWebhook } from '../../client/src/index.ts'
import type { HintEvent } from './hint.ts'
import { sleep } from './stop.ts'

/** The outcome of delivering a hint. */
export interface ForwardedHint {
  id: string
  event: HintEvent
  booking_id: number
  status: 'delivered' | 'failed'
  attempts: number
  /** Response status of the last attempt; null if it got no response. */
  response_status: number | null
  /** Why the last attempt got no response; null if it got one. */
  error: string | null
  /** Duration of the last attempt, in milliseconds. */
  milliseconds: number
}

const attempts = 3
const firstPauseSeconds = 1
const timeoutMilliseconds = 15_000

/** The address that hints are posted to, and the secret used to sign them. */
export interface Receiver {
  url: string
  secret: string
  /** Ends the delivery early when aborted. */
  stop: AbortSignal
}

/**
 * Delivers a hint in up to three attempts, with pauses of 1 s and 3 s between them. Only a 2xx status is a success. A bad
 * certificate ends the delivery, because another attempt would fail too.
 */
export async function forward(
  receiver: Receiver,
  event: HintEvent,
  bookingId: number,
  body: string,
): Promise<ForwardedHint> {
  const id = `msg_${crypto.randomUUID()}`
  for (let attempt = 1; ; attempt += 1) {
    const { status, error, isFinal, milliseconds } = await send(receiver, id, body)
    const isDelivered = status !== null && status >= 200 && status < 300
    const tried: ForwardedHint = {
      id,
      event,
      booking_id: bookingId,
      status: isDelivered ? 'delivered' : 'failed',
      attempts: attempt,
      response_status: status,
      error,
      milliseconds,
    }
    if (isDelivered || isFinal || attempt === attempts) return tried
    await sleep(firstPauseSeconds * 3 ** (attempt - 1), receiver.stop)
    if (receiver.stop.aborted) return tried
  }
}

async function send({ url, secret, stop }: Receiver, id: string, body: string) {
  const start = performance.now()
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'partnerctl',
    ...(await signWebhook({ id, at: new Date(), body }, secret)),
  }
  const timeout = AbortSignal.timeout(timeoutMilliseconds)
  const init = {
    method: 'POST',
    headers,
    body,
    redirect: 'manual',
    signal: AbortSignal.any([stop, timeout]),
  } as const
  const outcome = await fetch(url, init).then(
    (response) => {
      // The status is known, so it counts even if the connection is reset before the body has been read.
      response.body?.cancel().catch(() => {})
      return { status: response.status, error: null, isFinal: false }
    },
    (error) => ({
      status: null,
      error: describeNetworkError(error),
      isFinal: isLasting(networkCauseOf(error)),
    }),
  )
  return { ...outcome, milliseconds: Math.round(performance.now() - start) }
}

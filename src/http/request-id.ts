import { mayHoldApiKey } from './api-key-form.ts'

const acceptable = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's `X-Request-Id` if it is acceptable and not an API key (decisions §1 and §18), otherwise a new one. */
export function chooseRequestId(headers: Headers): string {
  const sent = headers.get('x-request-id')
  return sent !== null && acceptable.test(sent) && !mayHoldApiKey(sent) ? sent : crypto.randomUUID()
}

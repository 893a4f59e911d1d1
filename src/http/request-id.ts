const acceptable = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's `X-Request-Id` if it is acceptable (decisions §1), otherwise a new one. */
export function chooseRequestId(headers: Headers): string {
  const sent = headers.get('x-request-id')
  return sent !== null && acceptable.test(sent) ? sent : crypto.randomUUID()
}

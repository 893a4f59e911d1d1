/** Causes that only a change to this service's Redis settings or Redis account can resolve. */
const refusals: Record<string, string> = {
  WRONGPASS: 'Redis refuses the password',
  ERR_AUTH: 'Redis refuses the password',
  NOAUTH: 'Redis requires a password',
  NOPERM: 'Redis does not grant this account the commands that rate limits need',
}
const untrusted = 'The certificate of Redis is not trusted'

/** Causes that an operator can act on, by error code or by the first word of Redis's reply. */
const causes: Record<string, string> = {
  ...refusals,
  MOVED: 'Redis is a cluster: name several of its nodes in REDIS_URL',
  CLUSTERDOWN: 'Part of the Redis cluster is down',
  READONLY: 'Redis is a replica and accepts no writes',
  OOM: 'Redis is out of memory',
  LOADING: 'Redis is still loading its data',
  MISCONF: 'Redis accepts no writes because it cannot save them',
  ECONNREFUSED: 'Nothing listens at the address of Redis',
  ECONNRESET: 'Redis closes the connection',
  ETIMEDOUT: 'Redis does not respond',
  EHOSTUNREACH: 'The host of Redis cannot be reached',
  ENETUNREACH: 'The host of Redis cannot be reached',
  ENOTFOUND: 'The host name of Redis is unknown',
  EAI_AGAIN: 'The host name of Redis is unknown',
}

const certificate = /CERT|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|SELF_SIGNED|^ERR_TLS/

/** Returns the reason why Redis cannot be used; null if the cause is unknown. The text contains no secrets. */
export function causeOf(error: unknown): string | null {
  const { code, message, lastNodeError } = error as {
    code?: string
    message?: string
    lastNodeError?: unknown
  }
  // The client sets `lastNodeError` if no node of the cluster responds.
  if (lastNodeError) return causeOf(lastNodeError)
  if (code && certificate.test(code)) return untrusted
  const word = code ?? (/^ERR AUTH/.test(message ?? '') ? 'ERR_AUTH' : message?.split(' ')[0])
  return causes[word ?? ''] ?? null
}

/** True for a cause that retrying cannot resolve. */
export function isRefusal(cause: string): boolean {
  return cause === untrusted || Object.values(refusals).includes(cause)
}

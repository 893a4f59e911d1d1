/** What an operator can do something about, by the code of the error or the first word of Redis's own reply. */
const causes: Record<string, string> = {
  WRONGPASS: 'Redis refuses the password',
  ERR_AUTH: 'Redis refuses the password',
  NOAUTH: 'Redis asks for a password',
  NOPERM: 'Redis does not permit this account what the rate windows need',
  READONLY: 'Redis is a replica and takes no writes',
  OOM: 'Redis is out of memory',
  LOADING: 'Redis is still loading its data',
  MISCONF: 'Redis takes no writes because it cannot save them',
  ECONNREFUSED: 'Redis refuses the connection',
  ECONNRESET: 'Redis closes the connection',
  ETIMEDOUT: 'Redis does not answer',
  EHOSTUNREACH: 'The host of Redis cannot be reached',
  ENETUNREACH: 'The host of Redis cannot be reached',
  ENOTFOUND: 'The host name of Redis is unknown',
  EAI_AGAIN: 'The host name of Redis is unknown',
}

const certificate = /CERT|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|SELF_SIGNED|^ERR_TLS/

/** Why Redis cannot be used, or null for an error that only follows from an earlier one. Holds no secret. */
export function causeOf(error: unknown): string | null {
  const { code, message } = error as { code?: string; message?: string }
  if (code && certificate.test(code)) return 'Redis shows a certificate that is not trusted'
  const word = code ?? (/^ERR AUTH/.test(message ?? '') ? 'ERR_AUTH' : message?.split(' ')[0])
  return causes[word ?? ''] ?? null
}

/** Why no response arrived. Other values may follow in later versions. */
export type NetworkCause =
  | 'refused'
  | 'unknown_host'
  | 'lookup_failed'
  | 'unreachable'
  | 'untrusted'
  | 'name_mismatch'
  | 'expired'
  | 'not_yet_valid'
  | 'bad_certificate'
  | 'no_tls'
  | 'reset'
  | 'not_http'
  | 'bad_port'
  | 'timeout'

/** Each cause in words that can follow a colon. */
const words: Record<NetworkCause, string> = {
  refused: 'connection refused',
  unknown_host: 'unknown host',
  lookup_failed: 'the host name could not be looked up',
  unreachable: 'the network is unreachable',
  untrusted: 'certificate is not trusted: set NODE_EXTRA_CA_CERTS',
  name_mismatch: 'host name does not match the certificate',
  expired: 'certificate has expired',
  not_yet_valid: 'certificate is not valid yet',
  bad_certificate: 'certificate is not valid',
  no_tls: 'TLS handshake failed; the address may need http://',
  reset: 'connection reset',
  not_http: 'the response is not HTTP',
  bad_port: 'the runtime sends no requests to this port',
  timeout: 'timed out',
}

/**
 * The codes of Node and Bun for each cause. Node wraps them in errors of its own, whose messages (`fetch failed`) say
 * nothing.
 */
const codes: [NetworkCause, RegExp][] = [
  ['refused', /^(ECONNREFUSED|ConnectionRefused)$/],
  ['unknown_host', /^ENOTFOUND$/],
  ['lookup_failed', /^EAI_/],
  ['unreachable', /^(ENETUNREACH|EHOSTUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL)$/],
  ['untrusted', /^(UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|CERT_UNTRUSTED)$/],
  ['untrusted', /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/],
  ['name_mismatch', /^(ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/],
  ['expired', /^CERT_HAS_EXPIRED$/],
  ['not_yet_valid', /^CERT_NOT_YET_VALID$/],
  ['bad_certificate', /^(CERT_|CRL_|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$|ERR_TLS_CERT_)/],
  ['no_tls', /^(EPROTO$|ERR_SSL_)/],
  ['reset', /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET|ConnectionClosed)$/],
  ['not_http', /^HPE_/],
  ['timeout', /^(ETIMEDOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/],
]

/** What the messages of other errors say, such as those of Deno, which have no codes. */
const messages: [NetworkCause, RegExp][] = [
  ['refused', /connection refused/i],
  ['unknown_host', /failed to lookup address/i],
  ['name_mismatch', /NotValidForName/],
  ['expired', /invalid peer certificate: Expired/],
  ['not_yet_valid', /invalid peer certificate: NotValidYet/],
  ['untrusted', /UnknownIssuer|CaUsedAsEndEntity/],
  ['bad_certificate', /invalid peer certificate/],
  ['reset', /connection (was )?(reset|closed)/i],
  ['bad_port', /^bad port$/],
]

/** Causes that lie in the address or in the certificate, so that they are no outage and the next attempt fails too. */
const lasting: readonly NetworkCause[] = [
  'untrusted',
  'name_mismatch',
  'expired',
  'not_yet_valid',
  'bad_certificate',
  'bad_port',
]

/** Causes of attempts that sent nothing, so that the service cannot have acted on them. */
const unsent: readonly NetworkCause[] = ['refused', 'unknown_host', 'lookup_failed']

/** The fields of an error of `fetch`, none of which every runtime sets. */
interface FetchError {
  name?: string
  code?: string | number
  message?: string
  cause?: unknown
}

/** Returns why a request got no response; undefined if the runtime's error does not say. */
export function networkCauseOf(error: unknown): NetworkCause | undefined {
  const { name, code, message, cause }: FetchError = error ?? {}
  if (name === 'TimeoutError') return 'timeout'
  const byCode = codes.find(([, pattern]) => pattern.test(`${code ?? ''}`))
  if (byCode) return byCode[0]
  // The cause is asked first, because a message may repeat only a part of it.
  const inner = cause === undefined ? undefined : networkCauseOf(cause)
  return inner ?? messages.find(([, pattern]) => pattern.test(message ?? ''))?.[0]
}

/** Returns why a request got no response, in words that can follow a colon, such as `connection refused`. */
export function describeNetworkError(error: unknown): string {
  const known = networkCauseOf(error)
  if (known) return words[known]
  const { message, cause }: FetchError = error ?? {}
  return cause === undefined ? (message ?? String(error)) : describeNetworkError(cause)
}

/** True if another attempt would fail for the same reason (decisions §15). */
export function isLasting(cause: NetworkCause | undefined): boolean {
  return cause !== undefined && lasting.includes(cause)
}

/** True if nothing was sent, so that the service cannot have acted on the request. */
export function isUnsent(cause: NetworkCause | undefined): boolean {
  return cause !== undefined && unsent.includes(cause)
}

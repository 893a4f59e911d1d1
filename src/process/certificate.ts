import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigError } from '../core/config.ts'

/** A certificate, followed by its chain if it has one, and its private key, both as PEM text. */
export interface KeyPair {
  cert: string
  key: string
}

/**
 * Reads the service's own certificate and key (decisions §28). Only the supervisor calls this, and passes the pair to
 * its workers. A worker that is restarted while the files do not match therefore still gets the pair in use.
 *
 * @throws ConfigError with a one-line message that reveals neither paths nor contents, if the pair cannot be used
 */
export function readKeyPair(files: { cert: string; key: string }): KeyPair {
  const pair = { cert: readPem('TLS_CERT_FILE', files.cert), key: readPem('TLS_KEY_FILE', files.key) }
  try {
    if (!new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))) throw new Error()
    // This also checks the chain.
    createSecureContext(pair)
  } catch {
    throw new ConfigError(['TLS_CERT_FILE and TLS_KEY_FILE must be a certificate and its key, as PEM'])
  }
  if (expiryOf(pair) <= new Date()) throw new ConfigError(['The certificate of TLS_CERT_FILE has expired'])
  return pair
}

/**
 * The suites of TLS 1.2, the same as in deploy/nginx/nginx.conf: with forward secrecy, so that a key that leaks later
 * cannot decrypt recorded connections. All suites of TLS 1.3 have it.
 */
const ciphers = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** Returns the options with which the server terminates TLS. */
export function tlsOptionsOf(pair: KeyPair): KeyPair & { ciphers: string } {
  return { ...pair, ciphers }
}

/** Returns the expiry time of a pair's certificate. */
export function expiryOf({ cert }: KeyPair): Date {
  return new X509Certificate(cert).validToDate
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new ConfigError([`${name} must be the path of a readable file`])
  }
}

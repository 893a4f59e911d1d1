/**
 * Headers of every response. `no-store` keeps responses to authorized requests out of caches; cacheable pages set their
 * own `cache-control`. The content security policy suits JSON, which loads nothing; pages set their own policy.
 */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

/** Header of every response if the service terminates TLS itself. */
export const secureTransport = { 'strict-transport-security': 'max-age=31536000' }

function policyOfPage(styles: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Policy for a page that loads scripts and styles only from this service and sends requests only to this service. */
export const strictPagePolicy = policyOfPage("'self'")

/** Like {@link strictPagePolicy}, but for a page whose library sets inline styles. */
export const pagePolicy = policyOfPage("'self' 'unsafe-inline'")

/** `Link` header that points agents to the service's overview (decisions §27). */
export const agentsLink = { link: '</llms.txt>; rel="llms-txt"' }

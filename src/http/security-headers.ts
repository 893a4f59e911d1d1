/**
 * Headers of every response. No cache may store data that a key reads. A cacheable page sets its own `cache-control`.
 * The content security policy suits a JSON response, which loads nothing. A page sets its own policy.
 */
export const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
}

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

/** Policy for a page whose scripts, styles and requests are all our own. */
export const strictPagePolicy = policyOfPage("'self'")

/** The same policy for a page whose library sets inline styles. */
export const pagePolicy = policyOfPage("'self' 'unsafe-inline'")

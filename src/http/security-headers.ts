/**
 * Headers of every response. What a key reads belongs in no cache; a page that may be cached says so itself. The
 * policy is that of a JSON response, which loads nothing; a page sets its own.
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

/** The policy of a page whose scripts, styles and requests are all our own. */
export const strictPagePolicy = policyOfPage("'self'")

/** The same where the page's library sets inline styles. */
export const pagePolicy = policyOfPage("'self' 'unsafe-inline'")

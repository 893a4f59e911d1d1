/** Headings of the guide, by the type of error that they explain. */
const headings: Record<string, string> = {
  auth_error: 'authentication',
  forbidden: 'authentication',
  rate_limit_error: 'rate-limits',
  idempotency_key_mismatch: 'safe-retries',
}

/** Where the guide explains a type of error. */
export function guideFor(type: string): string {
  return `/docs#description/${headings[type] ?? 'errors'}`
}

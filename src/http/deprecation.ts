/** When a route was announced to go, and until when at least it stays. */
export interface Deprecation {
  since: Date
  sunset: Date
}

/** `Deprecation` (RFC 9745) and `Sunset` (RFC 8594). */
export function deprecationHeaders({ since, sunset }: Deprecation) {
  return {
    deprecation: `@${Math.floor(since.getTime() / 1000)}`,
    sunset: sunset.toUTCString(),
    link: '</docs/changelog>; rel="deprecation"; type="text/html"',
  }
}

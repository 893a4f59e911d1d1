/** The result of one check that a command makes. */
export interface Finding {
  check: string
  state: 'ok' | 'warning' | 'failed'
  detail: string
}

/** A clock difference in words: `12.3 s behind the service`. */
export function describeSkew(skewSeconds: number, other: string): string {
  return `${Math.abs(skewSeconds).toFixed(1)} s ${skewSeconds < 0 ? 'behind' : 'ahead of'} ${other}`
}

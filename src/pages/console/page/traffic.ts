import type { ResponseKind } from '../../../access/requests/kinds.ts'
import type { RequestCount } from '../../../access/requests/schema.ts'

/** The time spans that the chart can show, with their minutes per bar. */
export const spans = {
  hour: { name: 'Last hour', minutes: 60, minutesPerBar: 1 },
  day: { name: 'Last day', minutes: 1440, minutesPerBar: 15 },
} as const
export type Span = keyof typeof spans

/** The kinds of response, from the bottom of a bar to its top. */
export const kinds: { kind: ResponseKind; name: string }[] = [
  { kind: 'succeeded', name: 'Succeeded (2xx, 3xx)' },
  { kind: 'refused', name: 'Refused (4xx)' },
  { kind: 'limited', name: 'Beyond the limit (429)' },
  { kind: 'failed', name: 'Failed (5xx)' },
  { kind: 'unanswered', name: 'Unanswered (a fault of the sandbox)' },
]

/** One bar of the chart. */
export interface Bar extends Record<ResponseKind, number> {
  /** Start of the bar, in seconds since 1970. */
  at: number
}

/** Sums a time span's counts into bars of equal length, including empty bars. */
export function toBars(counts: RequestCount[], span: Span, now: number): Bar[] {
  const { minutes, minutesPerBar } = spans[span]
  const seconds = minutesPerBar * 60
  const last = Math.floor(now / 1000 / seconds) * seconds
  const bars = Array.from({ length: minutes / minutesPerBar }, (_, index) => {
    const at = last - (minutes / minutesPerBar - 1 - index) * seconds
    return { at, succeeded: 0, refused: 0, limited: 0, failed: 0, unanswered: 0 }
  })
  const first = bars[0]?.at ?? last
  for (const { at, ...count } of counts) {
    const bar = bars[Math.floor((Date.parse(at) / 1000 - first) / seconds)]
    if (bar) for (const { kind } of kinds) bar[kind] += count[kind]
  }
  return bars
}

/** Returns each kind's total over all bars. */
export function totals(bars: Bar[]): Record<ResponseKind, number> {
  const sum = (kind: ResponseKind) => bars.reduce((total, bar) => total + bar[kind], 0)
  return Object.fromEntries(kinds.map(({ kind }) => [kind, sum(kind)])) as Record<ResponseKind, number>
}

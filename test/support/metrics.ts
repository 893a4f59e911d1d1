import type { TestApp } from './app.ts'

/** Returns the values of a scrape, by series. */
export function seriesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
}

/** Series that a scrape reads from the stores. Each is NaN if its store does not respond within a second. */
const readings = [
  'store_ping_seconds{store="database"}',
  'store_ping_seconds{store="redis"}',
  'outbox_oldest_seconds',
  'feed_version_drift_seconds',
  'feed_oldest_unread_seconds',
]

/**
 * Scrapes a service repeatedly until every store has responded in time. On a busy machine, the first scrape may be
 * incomplete.
 */
export async function scrapeOf(service: Pick<TestApp, 'send'>, token: string): Promise<Map<string, number>> {
  const headers = { authorization: `Bearer ${token}` }
  for (;;) {
    const series = seriesOf((await service.send('GET', '/metrics', { headers })).text)
    if (!readings.some((name) => Number.isNaN(series.get(name)))) return series
  }
}

import type { TestApp } from './app.ts'

/** The values of a scrape, by series. */
export function seriesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
}

/** What a scrape reads from the stores, each within a second. */
const readings = [
  'store_ping_seconds{store="database"}',
  'store_ping_seconds{store="redis"}',
  'outbox_oldest_seconds',
  'feed_version_drift_seconds',
  'feed_oldest_unread_seconds',
]

/** Scrapes a service until its stores respond in time, which they may not do at once on a busy machine. */
export async function scrapeOf(service: Pick<TestApp, 'send'>, token: string): Promise<Map<string, number>> {
  const headers = { authorization: `Bearer ${token}` }
  for (;;) {
    const series = seriesOf((await service.send('GET', '/metrics', { headers })).text)
    if (!readings.some((name) => Number.isNaN(series.get(name)))) return series
  }
}

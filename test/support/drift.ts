import type { Actor } from './app.ts'
import type { HeldByPartner } from './digest.ts'

/** A line of a partner's export. */
export interface CsvRow extends HeldByPartner {
  version: string
}

/** Returns all bookings of a host as its feed shows them. */
export async function exportOf(actor: Actor): Promise<CsvRow[]> {
  const rows: CsvRow[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = cursor === '' ? '' : `&cursor=${cursor}`
    const { body } = await actor.send('GET', `/v1/integrations/provider_one/bookings?per_page=100${query}`)
    rows.push(...body.data.Bookings)
    cursor = body.meta.pagination.next_cursor
  }
  return rows
}

/** Returns bookings as CSV with a header line. */
export function toCsv(rows: Partial<CsvRow>[]): string {
  const columns = ['booking_id', 'status', 'checkin_at', 'checkout_at', 'version'] as const
  const lines = rows.map((row) => columns.map((name) => row[name] ?? '').join(','))
  return `${[columns.join(','), ...lines].join('\n')}\n`
}

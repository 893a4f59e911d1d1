import type { Target } from './load.ts'
import { atMost, medianMilliseconds, type Row, times } from './measure.ts'
import type { BenchServers } from './servers.ts'

/** Keyed creates one after the other: first sent, repeated, and as a bare transaction with the same writes. */
export async function creates({ service, bare, bookable, creator }: BenchServers): Promise<Row[]> {
  const body = JSON.stringify({ ...bookable, checkin_at: '2030-01-01', checkout_at: '2030-02-01' })
  const post = async ({ url, init }: Target, key: string) => {
    const headers = { ...(init?.headers as Record<string, string>), 'idempotency-key': key }
    const response = await fetch(url, { method: 'POST', headers, body })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`A create failed with ${response.status}`)
  }
  let count = 0
  const time = await medianMilliseconds(
    {
      bare: () => post(bare('/bookings'), 'none'),
      first: () => post(service('/v1/bookings', creator), `bench-${count++}`),
      replay: () => post(service('/v1/bookings', creator), `bench-${count - 1}`),
    },
    400,
  )
  return [
    atMost(
      'keyed POST /v1/bookings against a bare transaction',
      time.first / time.bare,
      1.3,
      times(time.bare, time.first),
    ),
    atMost('its replay against the first', time.replay / time.first, 0.5, times(time.first, time.replay)),
  ]
}

import { toTimestamp } from '../../core/clock.ts'
import { erasedPerson } from '../users/erased.ts'

/**
 * The stored response to a request about a guest, in its erased form: what tells of the person has the value that is stored
 * in its place, wherever in the body it stands, and a booking has the time at which it was erased.
 *
 * @param erasedAt by the ids of the guest's bookings
 */
export function eraseResponse(body: string, userId: number, erasedAt: ReadonlyMap<number, Date>): string {
  const values: Record<string, unknown> = {
    ...erasedPerson(userId),
    ...{ special_requests: null, cancellation_reason: null, notes: null },
  }
  const erase = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(erase)
    if (typeof value !== 'object' || value === null) return value
    const at = erasedAt.get((value as { booking_id?: number }).booking_id ?? 0)
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => {
        if (name === 'erased_at' && at) return [name, toTimestamp(at)]
        return [name, name in values ? values[name] : erase(part)]
      }),
    )
  }
  const { data, ...rest } = JSON.parse(body)
  return JSON.stringify({ data: erase(data), ...rest })
}

import type { DeliveredBooking } from '../../http/outcome.ts'
import type { StoredBooking } from './model.ts'
import { toStatusWord } from './status.ts'

type Shown = Pick<StoredBooking, 'id' | 'updated_at' | 'status' | 'checkin_at' | 'checkout_at'>

/** A booking as it is noted for a certification: what the feed and the detail both show. */
export function toDelivered({ id, updated_at, status, checkin_at, checkout_at }: Shown): DeliveredBooking {
  return { id, version: updated_at, status: toStatusWord(status), checkin_at, checkout_at }
}

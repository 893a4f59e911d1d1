import type { DeliveredBooking } from '../../http/outcome.ts'
import type { StoredBooking } from './model.ts'
import { toStatusWord } from './status.ts'

type Shown = Pick<StoredBooking, 'id' | 'updated_at' | 'status' | 'checkin_at' | 'checkout_at'>

/** Converts a booking to the form recorded for a certification: the fields that both the feed and the detail show. */
export function toDelivered({ id, updated_at, status, checkin_at, checkout_at }: Shown): DeliveredBooking {
  return { id, version: updated_at, status: toStatusWord(status), checkin_at, checkout_at }
}

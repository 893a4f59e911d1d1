import { invalidField } from '../../core/errors.ts'
import { findRowsCovering } from '../../inventory/availability/store.ts'
import type { Db, Session } from '../../platform/mongo/connection.ts'
import type { StoredBooking } from './model.ts'
import { findActiveStays } from './store.ts'
import { firstFullNight, nightsOf } from './units.ts'

/**
 * Refuses a stay with a night on which no unit is left.
 *
 * @throws DomainError `validation` at `checkin_at` with `unavailable`
 */
export async function requireUnit(
  db: Db,
  session: Session,
  stay: Pick<StoredBooking, 'host_id' | 'room_type_id' | 'checkin_at' | 'checkout_at'>,
): Promise<void> {
  const { host_id, room_type_id } = stay
  const nights = nightsOf(stay)
  const rows = (await findRowsCovering(db, session, host_id, [room_type_id], nights)).get(room_type_id)
  if (!rows) return
  const oldest = Math.min(...rows.map(({ sequence }) => sequence))
  const active = await findActiveStays(db, session, host_id, [room_type_id], nights, oldest)
  const night = firstFullNight(nights, rows, active)
  if (night) throw invalidField('checkin_at', `No unit of the room type is left on ${night}`, 'unavailable')
}

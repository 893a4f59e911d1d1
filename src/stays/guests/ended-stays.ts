import { toDay } from '../../core/clock.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import type { StoredBooking } from '../bookings/model.ts'
import { bookingStatus } from '../bookings/status.ts'
import { findBookingsOfUser } from '../bookings/store.ts'
import type { StoredUser } from '../users/model.ts'
import { findUsersAfter } from '../users/store.ts'
import { openStays } from './erase.ts'

const usersPerQuery = 200

/**
 * Yields the guests of one host or all hosts whose last stay ended before a given day, ordered by id. Guests with an
 * open stay and erased guests are skipped.
 *
 * @param before the day, `YYYY-MM-DD`
 */
export async function* guestsWithStaysEndedBefore(
  db: Db,
  ownerId: number | undefined,
  before: string,
  now: Date,
): AsyncGenerator<StoredUser> {
  let after = 0
  for (;;) {
    const users = await findUsersAfter(db, { ownerId, after, limit: usersPerQuery })
    for (const user of users) {
      const bookings = await findBookingsOfUser(db, user.owner_id, user.id)
      if (openStays(bookings, now).length === 0 && lastDay(user, bookings) < before) yield user
    }
    const last = users.at(-1)
    if (!last) return
    after = last.id
  }
}

/**
 * Returns the day on which a guest's last stay ended. A cancelled stay counts as ended on the day it was cancelled. For
 * a guest without bookings, returns the day on which the guest was created.
 */
function lastDay({ created_at }: StoredUser, bookings: StoredBooking[]): string {
  const days = bookings.map(({ status, checkout_at, canceled_at }) =>
    status === bookingStatus.cancelled && canceled_at ? toDay(canceled_at) : checkout_at,
  )
  return days.sort().at(-1) ?? toDay(created_at)
}

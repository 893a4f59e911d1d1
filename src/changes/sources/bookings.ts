import {
  type BookingChange,
  type ChangeFilter,
  countChanges,
  findChanges,
  findVersionFromEnd,
} from '../../stays/bookings/store.ts'
import type { FeedSource } from './source.ts'

/** A host's bookings, each in its latest state. */
export const bookingFeed: FeedSource<BookingChange, ChangeFilter> = {
  name: 'bookings',
  counter: 'last',
  find: findChanges,
  count: countChanges,
  versionFromEnd: findVersionFromEnd,
  versionOf: ({ updated_at }) => updated_at,
}

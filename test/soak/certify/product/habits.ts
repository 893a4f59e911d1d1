/** A booking as a product stores it. */
export interface StoredBooking {
  booking_id: number
  status: string
  checkin_at: string
  checkout_at: string
}

/** How a product works. Each value of `wrong` is a mistake that real integrations make. */
export interface Habits {
  reads?: 'page' | 'cursor' | 'wait' | 'consumer'
  /** Milliseconds between polls. */
  pause?: number
  perPage?: number
  /** True if the product accepts hints in addition to polling. */
  hinted?: boolean
  wrong?: Wrong
}

export type Wrong =
  | 'reads-first-and-last-page'
  | 'local-time'
  | 'fails-at-unknown-cancellations'
  | 'ignores-retry-after'
  | 'hammers-errors'
  | 'moves-before-reading'
  | 'takes-half-a-body'
  | 'ignores-401'
  | 'forgets-its-position'
  | 'forgets-what-it-missed'
  | 'polls-too-often'
  | 'reads-everything'
  | 'keeps-cancelled-confirmed'
  | 'keeps-first-status'
  | 'pushes-half-a-year'
  | 'pushes-night-by-night'
  | 'pushes-everything-again'
  | 'pushes-through-429'
  | 'repeats-422'
  | 'overwrites-units'
  | 'sells-again'
  | 'no-key'
  | 'new-key-each-try'
  | 'repeats-refused-booking'
  | 'gives-up-when-unavailable'
  | 'slow-endpoint'
  | 'hints-unread'
  | 'takes-forged'
  | 'takes-old'
  | 'refuses-doubled'
  | 'only-hints'

/** The part of `next` that a product needs. */
export interface NextAction {
  action: string
  booking_id: number | null
  listing_id: number | null
  room_type_id: number | null
  room_types: { listing_id: number; room_type_id: number }[] | null
  checkin_at: string | null
  checkout_at: string | null
  start_date: string | null
  end_date: string | null
  available: number | null
  as_of: string | null
}

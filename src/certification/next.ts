/** What the product, or whoever runs it, is asked to do now; what is done is seen, not confirmed. */
export interface Next {
  action: 'start' | 'stop' | 'wait' | 'push_all' | 'push_change' | 'book' | 'cancel' | 'upload_state'
  text: string
  booking_id?: number
  /** A user of the sandbox who can be the guest. */
  user_id?: number
  listing_id?: number
  room_type_id?: number
  room_types?: { listing_id: number; room_type_id: number }[]
  /** Of a stay. */
  checkin_at?: string
  checkout_at?: string
  /** Of nights, both included. */
  start_date?: string
  end_date?: string
  /** Units. */
  available?: number
}

/** What every course begins with. */
export const start: Next = {
  action: 'start',
  text: 'Start the product with an empty store, pointed at the sandbox with this key',
}

/** The product has nothing to do but what it always does. */
export const wait: Next = { action: 'wait', text: 'Leave the product running: the course goes on by itself' }

/** The action that the product or its operator is asked for. Completion is observed, not confirmed. */
export interface Next {
  action: 'start' | 'stop' | 'wait' | 'push_all' | 'push_change' | 'book' | 'cancel' | 'upload_state'
  text: string
  booking_id?: number
  /** Id of a sandbox user who can be the guest. */
  user_id?: number
  listing_id?: number
  room_type_id?: number
  room_types?: { listing_id: number; room_type_id: number }[]
  /** First night and day of departure of a stay. */
  checkin_at?: string
  checkout_at?: string
  /** First and last night, both included. */
  start_date?: string
  end_date?: string
  /** Units per night. */
  available?: number
}

/** The first action of every course. */
export const start: Next = {
  action: 'start',
  text: 'Start the product with an empty store, pointed at the sandbox with this key',
}

/** The action of a step in which the product only has to keep running. */
export const wait: Next = { action: 'wait', text: 'Leave the product running: the course goes on by itself' }

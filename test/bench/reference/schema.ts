import { Type } from '@sinclair/typebox'

/** The body of a booking, as both frameworks validate it. */
export const bookingCreate = Type.Object({
  user_id: Type.Integer({ minimum: 1 }),
  listing_id: Type.Integer({ minimum: 1 }),
  room_type_id: Type.Integer({ minimum: 1 }),
  checkin_at: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  checkout_at: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  message: Type.Optional(Type.String({ maxLength: 2000 })),
})

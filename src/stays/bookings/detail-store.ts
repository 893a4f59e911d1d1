import { notFound } from '../../core/errors.ts'
import { listingModel } from '../../inventory/listings/model.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { lookUpByIdWith } from '../../platform/mongo/look-up.ts'
import { type StoredUser, userModel } from '../users/model.ts'
import { bookingModel, type StoredBooking } from './model.ts'

/** What a booking's detail shows of the guest. */
export type ShownGuest = Pick<StoredUser, 'name' | 'email' | 'phone' | 'country' | 'language'>

/** A booking with what its detail shows of other documents. */
export interface BookingInFull {
  booking: StoredBooking
  guest: ShownGuest | null
  roomTypeName: string | null
}

type Found = StoredBooking & {
  _id: unknown
  guests: ShownGuest[]
  room_types: { names: (string | null)[] }[]
}

/**
 * Reads a booking, its guest and its room type's name with one command. One after the other, they would take two round
 * trips to the database, and most of the time of the request (decisions §27).
 */
const lookUpInFull = lookUpByIdWith<Found>(bookingModel, (db) => [
  {
    $lookup: {
      from: userModel(db).collection.name,
      let: { owner: '$owner_id', user: '$user_id' },
      pipeline: [
        { $match: ofOwner('$$user') },
        { $project: { _id: 0, name: 1, email: 1, phone: 1, country: 1, language: 1 } },
      ],
      as: 'guests',
    },
  },
  {
    $lookup: {
      from: listingModel(db).collection.name,
      let: { owner: '$owner_id', listing: '$listing_id', room_type: '$room_type_id' },
      pipeline: [{ $match: ofOwner('$$listing') }, { $project: { _id: 0, names: nameOfRoomType } }],
      as: 'room_types',
    },
  },
])

/** Matches the document of the booking's owner that has an id. An index on the owner and the id finds it. */
function ofOwner(id: string) {
  return { $expr: { $and: [{ $eq: ['$owner_id', '$$owner'] }, { $eq: ['$id', id] }] } }
}

/** The name of the room type, in a list. Only this name is sent, because a listing may have hundreds of room types. */
const nameOfRoomType = {
  $map: {
    input: {
      $filter: { input: '$content.room_types', as: 'one', cond: { $eq: ['$$one.id', '$$room_type'] } },
    },
    as: 'found',
    in: '$$found.name',
  },
}

/**
 * Returns the host's booking with this id, in full.
 *
 * @throws DomainError `not_found`, including for an undefined id
 */
export async function findBookingInFull(
  db: Db,
  ownerId: number,
  id: number | undefined,
): Promise<BookingInFull> {
  const found = id ? await lookUpInFull(db, { owner_id: ownerId, id }) : null
  if (!found) throw notFound('Booking')
  const { guests, room_types, ...booking } = found
  return { booking, guest: guests[0] ?? null, roomTypeName: room_types[0]?.names[0] ?? null }
}

import { toTimestamp } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { invalidField, notFound } from '../errors.ts'
import { type PageRequest, skipOf } from '../http/pagination.ts'
import { listingModel, type StoredListing } from '../listings/model.ts'
import { findListing } from '../listings/store.ts'
import { type Availability, availabilityModel } from './model.ts'
import type { AvailabilityRowOnWire } from './schema.ts'

type Store = Pick<Deps, 'db'>

/** What `GET …/availability` may be asked, beside the page. */
export interface AvailabilityQuery {
  listing_id?: string
  room_type_id?: string
  start_date?: string
  end_date?: string
}

export type AvailabilityTree = Record<string, Record<string, AvailabilityRowOnWire[]>>

/**
 * The availability of one page of the host's listings, by listing and room type, and how many listings match.
 *
 * @throws DomainError `validation` for dates in the wrong order; `not_found` for a listing or room type of others
 */
export async function readAvailability(
  { db }: Store,
  hostId: number,
  query: AvailabilityQuery,
  page: PageRequest,
): Promise<{ tree: AvailabilityTree; total: number }> {
  if (query.start_date && query.end_date && query.start_date > query.end_date) {
    throw invalidField('end_date', '"end_date" must not be before "start_date"')
  }
  const filter = await filterOf({ db }, hostId, query)
  const [total, listings] = await Promise.all([
    listingModel(db).countDocuments(filter),
    listingModel(db)
      .find(filter, { id: 1, 'content.room_types.id': 1 })
      .sort({ id: 1 })
      .skip(skipOf(page))
      .limit(page.perPage)
      .lean<StoredListing[]>(),
  ])
  const wanted = query.room_type_id === undefined ? undefined : Number(query.room_type_id)
  const roomTypes = listings.flatMap(({ content }) => content.room_types.map(({ id }) => id))
  const stored = await availabilityModel(db)
    .find({ host_id: hostId, room_type_id: { $in: wanted === undefined ? roomTypes : [wanted] } })
    .lean()
  return { tree: toTree(listings, stored, query, wanted), total }
}

/** Finds nothing of another host: what is asked for by id must be there. */
async function filterOf({ db }: Store, hostId: number, query: AvailabilityQuery) {
  if (query.listing_id !== undefined) await findListing({ db }, hostId, Number(query.listing_id))
  const filter = {
    host_id: hostId,
    ...(query.listing_id === undefined ? {} : { id: Number(query.listing_id) }),
    ...(query.room_type_id === undefined ? {} : { 'content.room_types.id': Number(query.room_type_id) }),
  }
  if (query.room_type_id !== undefined && !(await listingModel(db).exists(filter)))
    throw notFound('Room type')
  return filter
}

function toTree(
  listings: StoredListing[],
  stored: Availability[],
  query: AvailabilityQuery,
  wanted: number | undefined,
): AvailabilityTree {
  const byRoomType = new Map(stored.map((availability) => [availability.room_type_id, availability]))
  return Object.fromEntries(
    listings.map(({ id, content }) => {
      const roomTypes = content.room_types.filter(
        (roomType) => wanted === undefined || roomType.id === wanted,
      )
      return [
        id,
        Object.fromEntries(
          roomTypes.map((roomType) => [roomType.id, rowsOf(byRoomType.get(roomType.id), query)]),
        ),
      ]
    }),
  )
}

function rowsOf(availability: Availability | undefined, { start_date, end_date }: AvailabilityQuery) {
  const rows = availability?.rows ?? []
  return rows
    .filter((row) => (!start_date || row.end_date >= start_date) && (!end_date || row.start_date <= end_date))
    .map((row) => ({
      id: row.id,
      listing_id: (availability as Availability).listing_id,
      room_type_id: (availability as Availability).room_type_id,
      available: row.available,
      start_date: row.start_date,
      end_date: row.end_date,
      updated_at: toTimestamp(row.updated_at),
    }))
}

import { daysBetween, toTimestamp } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { invalidField, notFound } from '../errors.ts'
import { type PageRequest, skipOf } from '../http/pagination.ts'
import { type Db, inSnapshot } from '../infra/mongo.ts'
import { listingModel, type StoredListing } from '../listings/model.ts'
import { findListing } from '../listings/store.ts'
import type { StoredRow } from './model.ts'
import type { AvailabilityRowOnWire } from './schema.ts'
import { type DateWindow, findCounts, findRows, type RoomTypeCount } from './store.ts'

type Store = Pick<Deps, 'db'>

/** What `GET …/availability` may be asked, beside the page. */
export interface AvailabilityQuery {
  listing_id?: string
  room_type_id?: string
  start_date?: string
  end_date?: string
}

/** The availability of one listing: the rows of each room type asked for, by id ascending. */
export interface ListingAvailability {
  listingId: number
  roomTypeIds: number[]
}

/** One page of listings, and how many match in all. */
export interface AvailabilityPage {
  listings: ListingAvailability[]
  total: number
}

/** What is read in one piece: documents by estimate, and room types. One room type alone is always one piece. */
const rowsPerPiece = 2000
const roomTypesPerPiece = 50
/** Counts that are read at once. */
const countsPerLook = 1000

/**
 * One page of the host's listings with the room types that are asked for; their rows are read by
 * {@link readRows}.
 *
 * @throws DomainError `validation` for dates in the wrong order; `not_found` for a listing or room type of others
 */
export async function findAvailabilityPage(
  { db }: Store,
  hostId: number,
  query: AvailabilityQuery,
  page: PageRequest,
): Promise<AvailabilityPage> {
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
  const isWanted = (id: number) => wanted === undefined || id === wanted
  return {
    total,
    listings: listings.map(({ id, content }) => ({
      listingId: id,
      roomTypeIds: content.room_types
        .map((roomType) => roomType.id)
        .filter(isWanted)
        .sort((one, other) => one - other),
    })),
  }
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

/**
 * The rows of room types that overlap a window, room type by room type in the order given. Read in pieces of fixed
 * size, each from one moment of the database, so that neither memory nor the time between two other requests grows
 * with what is stored.
 */
export async function* readRows(
  db: Db,
  hostId: number,
  roomTypeIds: number[],
  window: DateWindow,
): AsyncGenerator<AvailabilityRowOnWire[]> {
  for (let start = 0; start < roomTypeIds.length; start += countsPerLook) {
    const looked = roomTypeIds.slice(start, start + countsPerLook)
    const counts = await inSnapshot(db, (session) => findCounts(db, session, hostId, looked))
    for (const piece of piecesOf(looked, counts, window)) {
      const rows = await inSnapshot(db, (session) => findRows(db, session, hostId, piece, window))
      for (const id of piece) yield (rows.get(id) ?? []).map(serializeRow)
    }
  }
}

function* piecesOf(ids: number[], counts: Map<number, RoomTypeCount>, window: DateWindow) {
  let piece: number[] = []
  let rows = 0
  for (const id of ids) {
    const more = mostToRead(counts.get(id), window)
    if (piece.length > 0 && (rows + more > rowsPerPiece || piece.length === roomTypesPerPiece)) {
      yield piece
      piece = []
      rows = 0
    }
    piece.push(id)
    rows += more
  }
  if (piece.length > 0) yield piece
}

/** Rows that a compaction left do not overlap: of them a window holds no more than it has days, and one before. */
function mostToRead(count: RoomTypeCount | undefined, { from, to }: DateWindow): number {
  if (!count) return 0
  const days = from && to ? daysBetween(from, to) + 1 : Number.POSITIVE_INFINITY
  return Math.min(count.mostRows, days) + count.looseRows
}

function serializeRow(row: StoredRow): AvailabilityRowOnWire {
  return {
    id: row.id,
    listing_id: row.listing_id,
    room_type_id: row.room_type_id,
    available: row.available,
    start_date: row.start_date,
    end_date: row.end_date,
    updated_at: toTimestamp(row.updated_at),
  }
}

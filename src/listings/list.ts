import { toTimestamp } from '../clock.ts'
import type { Deps } from '../deps.ts'
import { type PageRequest, skipOf } from '../http/pagination.ts'
import type { Db } from '../infra/mongo.ts'
import { listingModel, type StoredListing } from './model.ts'
import { type ListingListItem, type ListingSort, type ListingStatus, listingStatuses } from './schema.ts'

/** What `GET /v1/listings` may be asked, beside the page. */
export interface ListingQuery {
  sort?: ListingSort
  order?: 'asc' | 'desc'
  listing_status?: ListingStatus[]
  q?: string
}

type Order = Record<string, 1 | -1>

/** Status priority, then name, then latest update (contract); the id breaks ties. */
const defaultOrder: Order = { status_rank: 1, name_key: 1, updated_at: -1, id: 1 }

const sortFields: Record<ListingSort, string> = {
  id: 'id',
  name: 'name_key',
  updated_at: 'updated_at',
  listing_status: 'status_rank',
}

function orderOf({ sort, order }: ListingQuery): Order {
  if (!sort) return defaultOrder
  const direction = (order ?? (sort === 'updated_at' ? 'desc' : 'asc')) === 'asc' ? 1 : -1
  return { [sortFields[sort]]: direction, id: direction }
}

function filterOf(hostId: number, { listing_status, q }: ListingQuery) {
  const ranks = (listing_status ?? []).map((status) => listingStatuses.indexOf(status))
  return {
    host_id: hostId,
    ...(ranks.length > 0 ? { status_rank: { $in: ranks } } : {}),
    ...(q?.trim() ? { name_key: { $regex: literal(q.toLowerCase()) } } : {}),
  }
}

/** A pattern of the database's own dialect that means just this text. */
function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/#-]/g, '\\$&')
}

const columns = {
  id: 1,
  unique_id: 1,
  listing_status: 1,
  updated_at: 1,
  'content.original_id': 1,
  'content.name': 1,
  'content.room_types.id': 1,
  'content.room_types.name': 1,
  'content.room_types.rooms.id': 1,
  'content.room_types.rooms.name': 1,
}

/** The database query behind a page. */
export function listingQuery(db: Db, hostId: number, query: ListingQuery, page: PageRequest) {
  return listingModel(db)
    .find(filterOf(hostId, query), columns)
    .sort(orderOf(query))
    .skip(skipOf(page))
    .limit(page.perPage)
    .lean<StoredListing[]>()
}

/** One page of a host's listings and how many there are in all. */
export async function listListings(
  { db }: Pick<Deps, 'db'>,
  hostId: number,
  query: ListingQuery,
  page: PageRequest,
): Promise<{ rows: ListingListItem[]; total: number }> {
  const [total, listings] = await Promise.all([
    listingModel(db).countDocuments(filterOf(hostId, query)),
    listingQuery(db, hostId, query, page),
  ])
  return { rows: listings.map(toListItem), total }
}

function toListItem({ content, ...listing }: StoredListing): ListingListItem {
  return {
    id: listing.id,
    unique_id: listing.unique_id,
    original_id: content.original_id ?? null,
    name: content.name,
    listing_status: listing.listing_status,
    updated_at: toTimestamp(listing.updated_at),
    room_types: content.room_types.map(({ id, name, rooms }) => ({
      id,
      name: name ?? null,
      rooms: rooms.map((room) => ({ id: room.id, name: room.name ?? null })),
    })),
  }
}

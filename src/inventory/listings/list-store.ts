import { type PageRequest, skipOf } from '../../http/input/pagination.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import {
  comparableName,
  listingModel,
  type StoredContent,
  type StoredListing,
  type StoredRoom,
  type StoredRoomType,
} from './model.ts'
import { type ListingSort, type ListingStatus, listingStatuses } from './schema.ts'

/** Query parameters of `GET /v1/listings`, except the paging parameters. */
export interface ListingQuery {
  sort?: ListingSort
  order?: 'asc' | 'desc'
  listing_status?: ListingStatus[]
  q?: string
}

type Order = Record<string, 1 | -1>

/** Orders by status priority, then by name, then by most recent update (contract). The id breaks ties. */
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

function filterOf(ownerId: number, { listing_status, q }: ListingQuery) {
  const ranks = (listing_status ?? []).map((status) => listingStatuses.indexOf(status))
  return {
    // If this breaks: a list shows what belongs to other hosts
    owner_id: ownerId,
    ...(ranks.length > 0 ? { status_rank: { $in: ranks } } : {}),
    ...(q?.trim() ? { name_key: { $regex: escapePattern(comparableName(q)) } } : {}),
  }
}

/** Returns a database regular expression that matches this text literally. */
function escapePattern(text: string): string {
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
  'content.room_types.partner_id': 1,
  'content.room_types.name': 1,
  'content.room_types.rooms.id': 1,
  'content.room_types.rooms.partner_id': 1,
  'content.room_types.rooms.name': 1,
}

/** The fields of a listing that an item of `GET /v1/listings` shows. */
export type ListedListing = Pick<StoredListing, 'id' | 'unique_id' | 'listing_status' | 'updated_at'> & {
  content: Pick<StoredContent, 'original_id' | 'name'> & { room_types: ListedRoomType[] }
}

type ListedRoomType = Pick<StoredRoomType, 'id' | 'partner_id' | 'name'> & {
  rooms: Pick<StoredRoom, 'id' | 'partner_id' | 'name'>[]
}

/** Returns the database query for a page of a host's listings. */
export function listingQuery(db: Db, ownerId: number, query: ListingQuery, page: PageRequest) {
  return listingModel(db)
    .collection.find(filterOf(ownerId, query))
    .project<ListedListing>(columns)
    .sort(orderOf(query))
    .skip(skipOf(page))
    .limit(page.perPage)
}

/** Returns the number of a host's listings that match a query. */
export function countListings(db: Db, ownerId: number, query: ListingQuery): Promise<number> {
  return listingModel(db).collection.countDocuments(filterOf(ownerId, query))
}

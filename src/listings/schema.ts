import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { responseObject, text } from '../schema/fields.ts'
import { type Complete, responseSchema } from '../schema/normalize.ts'
import { ListingPatch } from './fields.ts'

export const listingStatuses = ['draft', 'pending', 'published', 'inactive'] as const
export type ListingStatus = (typeof listingStatuses)[number]

const { properties } = responseSchema(ListingPatch) as unknown as { properties: Record<string, TSchema> }

/** Response of `GET /v1/listings/{id}`. */
export const Listing = Type.Unsafe<
  { id: number; unique_id: string; listing_status: string; created_at: string; updated_at: string } & Omit<
    Complete<ListingPatch>,
    never
  >
>(
  responseObject({
    id: Type.Integer(),
    unique_id: Type.String(),
    listing_status: Type.String(),
    ...properties,
    created_at: Type.String(),
    updated_at: Type.String(),
  }),
)
export type Listing = Static<typeof Listing>

const Named = { id: Type.Integer(), name: Type.Union([Type.String(), Type.Null()]) }

/** One row of `GET /v1/listings`. */
export const ListingListItem = responseObject({
  id: Type.Integer(),
  unique_id: Type.String(),
  original_id: Type.Union([Type.String(), Type.Null()]),
  name: Type.String(),
  listing_status: Type.String(),
  updated_at: Type.String(),
  room_types: Type.Array(responseObject({ ...Named, rooms: Type.Array(responseObject(Named)) })),
})
export type ListingListItem = Static<typeof ListingListItem>

const Status = Type.Union(listingStatuses.map((status) => Type.Literal(status)))

export const listingSorts = ['id', 'name', 'updated_at', 'listing_status'] as const
export type ListingSort = (typeof listingSorts)[number]

/** Query of `GET /v1/listings`, apart from the page. */
export const listingFilters = {
  sort: Type.Optional(Type.Union(listingSorts.map((sort) => Type.Literal(sort)))),
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
  listing_status: Type.Optional(Type.Array(Status, { maxItems: 100, namesElements: false })),
  q: Type.Optional(text(255)),
}

/** Response of create and update (contract, Listing write result). */
export const ListingWriteResult = responseObject({
  action: Type.Union([Type.Literal('created'), Type.Literal('updated')]),
  data: responseObject({
    id: Type.Integer(),
    original_id: Type.Union([Type.String(), Type.Null()]),
    links: responseObject({ preview: Type.String() }),
  }),
  meta: responseObject({
    request_id: Type.Optional(Type.String()),
    sandbox: Type.Optional(Type.Literal(true)),
  }),
})

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { DomainError } from '../../core/errors.ts'
import { aboutMeta, metaFields } from '../../http/envelope.ts'
import { named, responseObject, shown, text } from '../../http/schema/fields.ts'
import { type Complete, responseSchema } from '../../http/schema/normalize.ts'
import { ListingPatch } from './fields.ts'

export const listingStatuses = ['draft', 'pending', 'published', 'inactive'] as const
export type ListingStatus = (typeof listingStatuses)[number]

const { properties } = responseSchema(ListingPatch) as unknown as { properties: Record<string, TSchema> }

const id = shown.integer('Our id of the listing', 'id')
const unique_id = shown.text('Another id of the listing, unique everywhere')
const original_id = shown.textOrNull('Your own id of the listing; null if not set')
const listing_status = shown.word('Status of the listing; an administrator changes it', ...listingStatuses)
const updated_at = shown.timestamp('When the listing or its rates last changed')

/** Response of `GET /v1/listings/{id}`. */
export const Listing = Type.Unsafe<
  {
    id: number
    unique_id: string
    listing_status: ListingStatus
    created_at: string
    updated_at: string
  } & Complete<ListingPatch>
>(
  named(
    'Listing',
    responseObject({
      id,
      unique_id,
      listing_status,
      ...properties,
      name: shown.text('Name of the listing'),
      created_at: shown.timestamp('When the listing was created'),
      updated_at,
    }),
  ),
)
export type Listing = Static<typeof Listing>

const NamedRoom = named(
  'RoomName',
  responseObject({
    id: shown.integer('Our id of the room', 'id'),
    name: shown.textOrNull('Name of the room; null if it has none'),
  }),
)

/** One row of `GET /v1/listings`. */
export const ListingListItem = named(
  'ListingSummary',
  responseObject({
    id,
    unique_id,
    original_id,
    name: shown.text('Name of the listing'),
    listing_status,
    updated_at,
    room_types: shown.list(
      'Its room types',
      named(
        'RoomTypeName',
        responseObject({
          id: shown.integer('Our id of the room type', 'id'),
          name: shown.textOrNull('Name of the room type; null if it has none'),
          rooms: shown.list('Its rooms', NamedRoom),
        }),
      ),
    ),
  }),
)
export type ListingListItem = Static<typeof ListingListItem>

const Status = Type.Union(listingStatuses.map((status) => Type.Literal(status)))

export const listingSorts = ['id', 'name', 'updated_at', 'listing_status'] as const
export type ListingSort = (typeof listingSorts)[number]

/** Query parameters of `GET /v1/listings`, except those for the page. */
export const listingFilters = {
  sort: Type.Optional(
    Type.Union(
      listingSorts.map((sort) => Type.Literal(sort)),
      { description: 'Order by this field; by status, name and latest update if absent', example: 'name' },
    ),
  ),
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      description: 'Direction of `sort`; `desc` for `updated_at`, else `asc`, if absent',
      example: 'asc',
    }),
  ),
  listing_status: Type.Optional(
    Type.Array(Status, {
      maxItems: 100,
      namesElements: false,
      description: 'Only these statuses; may be repeated',
      example: ['published'],
    }),
  ),
  q: Type.Optional(
    text(255, { description: 'Only listings whose name contains this text, in any case', example: 'house' }),
  ),
}

/** Response of create and update (contract, Listing write result). */
export const ListingWriteResult = named(
  'ListingWriteResult',
  responseObject({
    action: shown.word('What was done', 'created', 'updated'),
    data: responseObject(
      {
        id,
        original_id,
        links: responseObject(
          { preview: shown.text('Address of a preview page', 'uri') },
          'Where to look at it',
        ),
      },
      'The listing that was written',
    ),
    meta: responseObject(metaFields, aboutMeta),
  }),
)

/** Returns the 403 error for a bulk write that names another host's listings. */
export function foreignListings(paths: { path: string; message: string }[]): DomainError {
  const problems = paths.map((entry) => ({ ...entry, code: 'forbidden' as const }))
  return new DomainError('forbidden', 'Unauthorized access to listings', problems)
}

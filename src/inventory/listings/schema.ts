import { type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { aboutMeta, metaFields } from '../../http/answer/envelope.ts'
import { type Complete, responseSchema } from '../../http/input/schema/complete.ts'
import { output, responseObject, text, withTitle } from '../../http/input/schema/fields.ts'
import { ListingPatch, RoomTypeWrite, RoomWrite } from './fields.ts'

export const listingStatuses = ['draft', 'pending', 'published', 'inactive'] as const
export type ListingStatus = (typeof listingStatuses)[number]

/** Converts a request schema's fields to response fields. */
function fieldsOf(schema: TSchema): TProperties {
  return responseSchema(schema).properties
}

const id = output.integer('Our id for the listing', 'id')
const unique_id = output.text('Globally unique second id of the listing')
const original_id = output.textOrNull('Your own id for the listing; null if not set')
const listing_status = output.literal(
  'Status of the listing; changed by an administrator',
  ...listingStatuses,
)
const updated_at = output.timestamp('Time at which the listing or its rates last changed')

const roomTypeIds = {
  id: output.integer('Our id for the room type', 'id'),
  original_id: output.textOrNull('Your own id for the room type; null if you sent none'),
}
const roomIds = {
  id: output.integer('Our id for the room', 'id'),
  original_id: output.textOrNull('Your own id for the room; null if you sent none'),
}

const Room = withTitle('Room', responseObject({ ...roomIds, ...fieldsOf(RoomWrite) }))
const rooms = output.list('Rooms of the room type', Room)
const RoomType = withTitle('RoomType', responseObject({ ...roomTypeIds, ...fieldsOf(RoomTypeWrite), rooms }))

/** The partner's own id, which a read response adds to each room type and room. */
interface Own {
  original_id: string | null
}

/** Response of `GET /v1/listings/{id}`. */
export const Listing = Type.Unsafe<
  {
    id: number
    unique_id: string
    listing_status: ListingStatus
    created_at: string
    updated_at: string
    room_types: (Own & { rooms: Own[] })[]
  } & Complete<ListingPatch>
>(
  withTitle(
    'Listing',
    responseObject({
      id,
      unique_id,
      listing_status,
      ...fieldsOf(ListingPatch),
      room_types: output.list('Room types of the listing', RoomType),
      name: output.text('Name of the listing'),
      created_at: output.timestamp('Time at which the listing was created'),
      updated_at,
    }),
  ),
)
export type Listing = Static<typeof Listing>

const NamedRoom = withTitle(
  'RoomName',
  responseObject({
    ...roomIds,
    name: output.textOrNull('Name of the room; null if it has no name'),
  }),
)

/** One item of `GET /v1/listings`. */
export const ListingListItem = withTitle(
  'ListingSummary',
  responseObject({
    id,
    unique_id,
    original_id,
    name: output.text('Name of the listing'),
    listing_status,
    updated_at,
    room_types: output.list(
      'Room types of the listing',
      withTitle(
        'RoomTypeName',
        responseObject({
          ...roomTypeIds,
          name: output.textOrNull('Name of the room type; null if it has no name'),
          rooms: output.list('Rooms of the room type', NamedRoom),
        }),
      ),
    ),
  }),
)
export type ListingListItem = Static<typeof ListingListItem>

const Status = Type.Union(listingStatuses.map((status) => Type.Literal(status)))

export const listingSorts = ['id', 'name', 'updated_at', 'listing_status'] as const
export type ListingSort = (typeof listingSorts)[number]

/** Query parameters of `GET /v1/listings`, except the paging parameters. */
export const listingFilters = {
  sort: Type.Optional(
    Type.Union(
      listingSorts.map((sort) => Type.Literal(sort)),
      {
        description: 'Field to sort by; if absent, listings are sorted by status, name and latest update',
        example: 'name',
      },
    ),
  ),
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      description: 'Direction of `sort`; if absent, `desc` for `updated_at` and `asc` for other fields',
      example: 'asc',
    }),
  ),
  listing_status: Type.Optional(
    Type.Array(Status, {
      maxItems: 100,
      namesElements: false,
      description: 'Statuses to include; repeated, or separated by commas',
      example: ['published'],
    }),
  ),
  q: Type.Optional(
    text(255, {
      description: 'Text that the name of the listing must contain, case-insensitive',
      example: 'house',
    }),
  ),
}

/** Response of create and update (contract, Listing write result). */
export const ListingWriteResult = withTitle(
  'ListingWriteResult',
  responseObject({
    action: output.literal('Action that was taken', 'created', 'updated'),
    data: responseObject(
      {
        id,
        original_id,
        links: responseObject(
          { preview: output.text('URL of a preview page', 'uri') },
          'Links to the listing',
        ),
        room_types: output.list(
          'All room types of the listing, to match your own ids with ours',
          withTitle(
            'RoomTypeIds',
            responseObject({
              ...roomTypeIds,
              rooms: output.list('Rooms of the room type', withTitle('RoomIds', responseObject(roomIds))),
            }),
          ),
        ),
      },
      'Listing that was written',
    ),
    meta: responseObject(metaFields, aboutMeta),
  }),
)

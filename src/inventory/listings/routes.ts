import { Envelope, metaOf, ok, PageEnvelope, type ResponseContext } from '../../http/answer/envelope.ts'
import { streamJson } from '../../http/answer/send.ts'
import type { AppContext } from '../../http/context.ts'
import { pageQuery, pagination, toPageRequest } from '../../http/input/pagination.ts'
import { output, requestObject } from '../../http/input/schema/fields.ts'
import type { Caller, Unchecked } from '../../http/request.ts'
import { routes } from '../../http/route.ts'
import { listingCreate, listingPatch } from './fields.ts'
import { countListings, type ListingQuery, listingQuery } from './list-store.ts'
import { type ListingWrite, patchListing, sentListings } from './listing-write.ts'
import { findMatch, recognizableIn } from './match-store.ts'
import type { WrittenListing } from './model.ts'
import { Listing, ListingListItem, ListingWriteResult, listingFilters } from './schema.ts'
import { serializeIds, serializeListItem, serializeListing } from './serialize.ts'
import { findListing } from './store.ts'

const defaultPerPage = 50

/** Defines the routes that read, create and update the listings of the key's host (contract, Endpoints). */
export function listingRoutes(app: AppContext) {
  const read = async (caller: Unchecked['caller'], id: number | undefined) =>
    serializeListing(await findListing(app.db, caller.ownerId, id))
  return routes(app, { prefix: '/listings', tags: ['Listings'] })
    .get(
      '',
      {
        access: { permission: 'listings.read' },
        query: requestObject({ ...pageQuery(defaultPerPage, 100), ...listingFilters }),
        response: { 200: PageEnvelope(output.list('The listings of this page', ListingListItem)) },
        detail: { operationId: 'listListings', summary: 'List listings' },
      },
      (context) => streamJson(app, context, listingPage(app, context)),
    )
    .get(
      '/:id',
      {
        access: { permission: 'listings.read', errors: ['not_found'] },
        response: { 200: Envelope(Listing) },
        detail: { operationId: 'getListing', summary: 'Read a listing' },
      },
      async (context) => ok(context, await read(context.caller, context.params.id)),
    )
    .post(
      '',
      {
        access: {
          permission: 'listings.write',
          body: 'json',
          errors: ['listing_conflict'],
        },
        body: listingCreate(app.config.webhooksAllowPrivate),
        // Called only if the body has unknown or read-only fields. The listing is looked up before the write, because
        // with `Prefer: handling=strict` such a request is refused without writing anything.
        current: async ({ caller, body }) => {
          const found = await findMatch(app.db, caller.ownerId, recognizableIn(body))
          return found ? serializeListing(found.listing) : null
        },
        response: { 200: ListingWriteResult, 201: ListingWriteResult },
        detail: { operationId: 'createListing', summary: 'Create a listing, or update the one that matches' },
      },
      {
        write: sentListings,
        input: ({ body }) => body,
        respond: (request, written) => ({
          status: written.action === 'created' ? 201 : 200,
          envelope: writeResult(app, request, written),
        }),
        afterCommit(_, { setsCalendar }) {
          if (setsCalendar) app.calendars.wake()
        },
      },
    )
    .patch(
      '/:id',
      {
        access: {
          permission: 'listings.write',
          body: 'json',
          errors: ['not_found', 'listing_conflict'],
        },
        body: listingPatch(app.config.webhooksAllowPrivate),
        current: ({ caller, params }) => read(caller, params.id),
        response: { 200: ListingWriteResult },
        detail: { operationId: 'updateListing', summary: 'Update a listing' },
      },
      async (context) => {
        const id = context.params.id
        const written = await patchListing(app, context.caller.ownerId, id, context.body)
        if (written.setsCalendar) app.calendars.wake()
        return writeResult(app, context, written)
      },
    )
}

/**
 * Yields a page of listings as JSON text, one listing at a time. A page may have 100 listings of up to 1 MiB each, so
 * the whole page is never held in memory.
 */
async function* listingPage(
  { db }: AppContext,
  context: ResponseContext & { caller: Caller; query: ListingQuery & { page?: number; per_page?: number } },
): AsyncGenerator<string> {
  const { caller, query } = context
  const page = toPageRequest(query, defaultPerPage)
  const rows = listingQuery(db, caller.ownerId, query, page)
  const [total, first] = await Promise.all([countListings(db, caller.ownerId, query), rows.next()])
  let count = 0
  try {
    yield '{"data":['
    let row = first
    while (row) {
      yield (count > 0 ? ',' : '') + JSON.stringify(serializeListItem(row))
      count += 1
      row = await rows.next()
    }
    const meta = { ...metaOf(context), pagination: pagination(page, total, count) }
    yield `],"meta":${JSON.stringify(meta)}}`
  } finally {
    await rows.close()
  }
}

function writeResult(
  app: AppContext,
  context: ResponseContext,
  { action, listing }: ListingWrite<WrittenListing>,
) {
  const preview = app.config.previewUrl.replace('{id}', String(listing.id))
  const data = {
    id: listing.id,
    original_id: listing.content.original_id ?? null,
    links: { preview },
    room_types: serializeIds(listing),
  }
  return { action, data, meta: metaOf(context) }
}

import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { door } from '../http/door.ts'
import { type AnswerContext, Envelope, metaOf, ok, PageEnvelope } from '../http/envelope.ts'
import { answerOnce } from '../http/idempotency.ts'
import { pageQuery, pagination, toPageRequest } from '../http/pagination.ts'
import { parsePathId, requestObject } from '../schema/types.ts'
import { listListings } from './list.ts'
import { readListing } from './read.ts'
import { Listing, ListingListItem, ListingWriteResult, listingFilters } from './schema.ts'
import { ListingCreate, ListingPatch } from './shape.ts'
import { toWire } from './store.ts'
import { type ListingWrite, patchListing, prepareListing } from './write.ts'

const defaultPerPage = 50

/** Reads, creates and updates the listings of the key's host (contract, Endpoints). */
export function listingRoutes(deps: Deps) {
  return new Elysia({ prefix: '/listings', tags: ['Listings'] })
    .use(door(deps))
    .get(
      '',
      async (context) => {
        const page = toPageRequest(context.query, defaultPerPage)
        const { rows, total } = await listListings(deps, context.caller.hostId, context.query, page)
        return ok(context, rows, { pagination: pagination(page, total, rows.length) })
      },
      {
        access: { permission: 'listings.read' },
        query: requestObject({ ...pageQuery(defaultPerPage, 100), ...listingFilters }),
        response: { 200: PageEnvelope(Type.Array(ListingListItem)) },
        detail: { summary: 'List listings' },
      },
    )
    .get(
      '/:id',
      async (context) => {
        const id = parsePathId(context.params.id)
        return ok(context, toWire(await readListing(deps, context.caller.hostId, id)))
      },
      {
        access: { permission: 'listings.read' },
        response: { 200: Envelope(Listing) },
        detail: { summary: 'Read a listing' },
      },
    )
    .post(
      '',
      (context) =>
        answerOnce(
          deps,
          context,
          () => prepareListing(deps, context.caller.hostId, context.body),
          (write) => ({
            status: write.action === 'created' ? 201 : 200,
            envelope: writeResult(deps, context, write),
          }),
        ),
      {
        access: { permission: 'listings.write', body: 'json', idempotent: true },
        body: ListingCreate,
        response: { 200: ListingWriteResult, 201: ListingWriteResult },
        detail: { summary: 'Create a listing, or update the one that matches' },
      },
    )
    .patch(
      '/:id',
      async (context) => {
        const id = parsePathId(context.params.id)
        return writeResult(deps, context, await patchListing(deps, context.caller.hostId, id, context.body))
      },
      {
        access: { permission: 'listings.write', body: 'json' },
        body: ListingPatch,
        response: { 200: ListingWriteResult },
        detail: { summary: 'Update a listing' },
      },
    )
}

function writeResult(deps: Deps, context: AnswerContext, { action, listing }: ListingWrite) {
  const preview = deps.config.previewUrl.replace('{id}', String(listing.id))
  const data = { id: listing.id, original_id: listing.content.original_id ?? null, links: { preview } }
  return { action, data, meta: metaOf(context) }
}

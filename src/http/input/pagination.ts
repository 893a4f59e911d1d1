import { type Static, Type } from '@sinclair/typebox'
import { output, responseObject, withTitle } from './schema/fields.ts'

/** The query parameters `page` and `per_page` (decisions §2). */
export const pageQuery = (defaultPerPage: number, maxPerPage: number) => ({
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Number of the page to return, starting at 1 (default 1)',
      example: 1,
    }),
  ),
  per_page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maxPerPage,
      description: `Number of items per page (default ${defaultPerPage}, maximum ${maxPerPage})`,
      example: defaultPerPage,
    }),
  ),
})

/** The requested page of a list. */
export interface PageRequest {
  page: number
  perPage: number
}

export function toPageRequest(
  query: { page?: number; per_page?: number },
  defaultPerPage: number,
): PageRequest {
  return { page: query.page ?? 1, perPage: query.per_page ?? defaultPerPage }
}

/** Returns the number of rows before the page, capped at the largest skip that the database accepts. */
export function skipOf({ page, perPage }: PageRequest): number {
  return Math.min((page - 1) * perPage, 2 ** 31 - 1)
}

/** The contract's `meta.pagination`. */
export const Pagination = withTitle(
  'Pagination',
  responseObject({
    current_page: output.integer('Number of the requested page', 'id'),
    per_page: output.integer('Maximum number of items per page', 'id'),
    total: output.integer('Total number of matching items across all pages', 'count'),
    last_page: output.integer(
      'Number of the last page; there are more pages while it is greater than `current_page`',
      'id',
    ),
    from: output.integerOrNull(
      'Position of the first item on this page, starting at 1; null if the page is empty',
      'id',
    ),
    to: output.integerOrNull(
      'Position of the last item on this page, starting at 1; null if the page is empty',
      'id',
    ),
  }),
)
export type Pagination = Static<typeof Pagination>

/**
 * Returns a page's metadata.
 *
 * @param total number of rows in the whole list
 * @param rows number of rows on this page
 */
export function pagination({ page, perPage }: PageRequest, total: number, rows: number): Pagination {
  const before = (page - 1) * perPage
  return {
    current_page: page,
    per_page: perPage,
    total,
    last_page: Math.max(1, Math.ceil(total / perPage)),
    from: rows > 0 ? before + 1 : null,
    to: rows > 0 ? before + rows : null,
  }
}

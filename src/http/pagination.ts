import { type Static, Type } from '@sinclair/typebox'
import { responseObject } from '../schema/fields.ts'

/** `page` and `per_page` of a query (decisions §2); `query.ts` converts the digits of a query string to numbers. */
export const pageQuery = (defaultPerPage: number, maximumPerPage: number) => ({
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Page, from 1 (default 1)' }),
  ),
  per_page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: maximumPerPage,
      description: `Items on a page (default ${defaultPerPage}, maximum ${maximumPerPage})`,
    }),
  ),
})

/** Which page of a list is requested. */
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

/** How many rows precede the page; bounded, because the database accepts no larger skip. */
export function skipOf({ page, perPage }: PageRequest): number {
  return Math.min((page - 1) * perPage, 2 ** 31 - 1)
}

const integer = () => Type.Integer()
const integerOrNull = () => Type.Union([Type.Integer(), Type.Null()])

/** `meta.pagination` of the contract. */
export const Pagination = responseObject({
  current_page: integer(),
  per_page: integer(),
  total: integer(),
  last_page: integer(),
  from: integerOrNull(),
  to: integerOrNull(),
})
export type Pagination = Static<typeof Pagination>

/**
 * The page metadata of a counted list.
 * `from` and `to` are the 1-based positions of the first and last row of this page, null when it is empty.
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

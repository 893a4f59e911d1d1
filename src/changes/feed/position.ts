import { invalidField, type Problem } from '../../core/errors.ts'
import { parseFeedTime, toVersion } from '../../host-clock/format.ts'
import { othersThanIn } from '../../http/input/cursor.ts'
import type { Caller } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { type ConsumerSet, consumerSetOf, findConsumer } from '../consumers/store.ts'
import {
  bookingParameters,
  type Feed,
  type FilterParameters,
  messageParameters,
  type OwnerFilter,
} from '../feeds.ts'
import { readCursor, type WalkQuery, writeCursor } from './cursor.ts'

/**
 * A walk through a feed, and which of its pages a request asks for. A request's `cursor`, `updated_after`, `consumer`,
 * `page` and filters are parsed into a position once; nothing else here reads them.
 */
export interface Position<Filter extends OwnerFilter = OwnerFilter> {
  /** Whose rows the walk shows, and which of them. */
  filter: Filter
  /** The version after which the reader's walk starts; null for the beginning of the feed. `total` counts from here. */
  start: Date | null
  perPage: number
  page: WantedPage
  /** The consumer at whose position the walk starts. */
  consumer: { set: ConsumerSet; name: string } | undefined
  /** The query parameters of the filter, which the next page's cursor keeps. */
  parameters: FilterParameters
}

/** The page of a walk that a request asks for. `number` counts from 1. */
export type WantedPage =
  /** The page at which the walk starts. An ordinary poll asks for it, and so does `page=1`. */
  | { kind: 'first' }
  /** A later page, asked for by its number alone. Where it starts has yet to be found (`wanted-page.ts`). */
  | { kind: 'numbered'; number: number }
  /** The page after a version, asked for by a cursor, which also carries the page's number. */
  | { kind: 'cursor'; number: number; after: Date }

/** The query parameters that determine a position. */
export interface PositionQuery extends FilterParameters {
  updated_after?: string
  consumer?: string
  cursor?: string
  page?: number
  per_page?: number
}

export const defaultPerPage = 50

/**
 * Parses a request's query. A cursor carries the query of its walk, which the request may leave out (decisions §9).
 *
 * @throws DomainError `not_found` if the owner does not have what a filter names, or the key has no such consumer;
 * `validation` for a cursor that {@link positionProblems} would have refused
 */
export async function positionOf<Row, Filter extends OwnerFilter>(
  db: Db,
  feed: Feed<Row, Filter>,
  caller: Pick<Caller, 'ownerId' | 'keyId'>,
  query: PositionQuery,
): Promise<Position<Filter>> {
  const cursor = query.cursor === undefined ? undefined : readCursor(feed.name, query.cursor)
  if (cursor === null) throw invalidField('cursor', notACursor)
  const walk: PositionQuery = { ...query, ...cursor?.query }
  const start = walk.updated_after === undefined ? null : parseFeedTime(walk.updated_after)
  const parameters = ownParameters(feed, walk)
  const consumer =
    walk.consumer === undefined ? undefined : { set: consumerSetOf(caller, feed.name), name: walk.consumer }
  const position = await followConsumer(db, {
    start,
    perPage: walk.per_page ?? defaultPerPage,
    page: cursor ? { kind: 'cursor', number: cursor.page, after: cursor.version } : pageNumbered(query.page),
    consumer,
    parameters,
  })
  return { ...position, filter: await feed.filterOf(db, caller.ownerId, parameters) }
}

function pageNumbered(number = 1): WantedPage {
  return number === 1 ? { kind: 'first' } : { kind: 'numbered', number }
}

/**
 * Returns a position whose walk starts at the version that its consumer has acknowledged; the same position if it has
 * no consumer or already starts there. A cursor's walk keeps its start, even if its consumer has moved on.
 *
 * @throws DomainError `not_found` if the key has no such consumer
 */
export async function followConsumer<At extends Pick<Position, 'consumer' | 'page' | 'start'>>(
  db: Db,
  position: At,
): Promise<At> {
  const { consumer, page, start } = position
  if (!consumer) return position
  const { acknowledged } = await findConsumer(db, consumer.set, consumer.name)
  if (page.kind === 'cursor' || acknowledged?.getTime() === start?.getTime()) return position
  return { ...position, start: acknowledged }
}

/** Returns the cursor of a page of a walk: the one that starts after the given version. */
export function cursorTo(
  feed: Feed,
  { start, perPage, parameters }: Position,
  page: { number: number; after: Date },
): string {
  const walk = { per_page: perPage, updated_after: start ? toVersion(start) : undefined, ...parameters }
  return writeCursor(feed.name, { version: page.after, page: page.number }, walk)
}

/** True if the position's pages show only some of the owner's rows. */
export function isFiltered({ parameters }: Position): boolean {
  return Object.values(parameters).some((value) => value !== undefined)
}

/**
 * Returns a function that checks a feed query's position (decisions §19). A consumer cannot be combined with
 * `updated_after`, which is a position too. It cannot be combined with a later page, because after an acknowledgement,
 * page 2 would skip the rows that have moved to page 1. It cannot be combined with a filter, because changes that the
 * filter hides would be acknowledged unseen or stay pending forever. A cursor continues its own walk (decisions §9).
 */
export function positionProblems(
  feed: Feed,
): (query: PositionQuery, isValidAt: (path: string) => boolean) => Problem[] {
  return (query, isValidAt) => {
    const problems = consumerProblems(query)
    if (query.cursor === undefined || !isValidAt('cursor')) return problems
    const cursor = readCursor(feed.name, query.cursor)
    if (cursor === null) return [...problems, invalidCursor(notACursor)]
    const { per_page, updated_after } = query
    const isTime = updated_after !== undefined && isValidAt('updated_after')
    const start = isTime ? toVersion(parseFeedTime(updated_after)) : undefined
    const sent = { per_page, updated_after: start, ...ownParameters(feed, query) }
    return [
      ...problems,
      ...unfitForCursor(query, cursor.query),
      ...othersThanIn(cursor.sent, sent, isValidAt),
    ]
  }
}

const allParameters = Object.keys({
  ...bookingParameters,
  ...messageParameters,
}) as (keyof FilterParameters)[]

function consumerProblems({ updated_after, consumer, page = 1, ...others }: PositionQuery): Problem[] {
  if (consumer === undefined) return []
  const problems: Problem[] = []
  const report = (path: string, message: string) => problems.push({ path, code: 'invalid', message })
  if (updated_after !== undefined)
    report('updated_after', '"updated_after" must not be sent together with "consumer"')
  if (page > 1)
    report('page', '"page" must be 1 with "consumer"; acknowledge and read again, or follow "next_cursor"')
  for (const name of allParameters)
    if (others[name] !== undefined)
      report(name, `"${name}" must not be sent together with "consumer", which follows the whole feed`)
  return problems
}

const notACursor = '"cursor" must be the "next_cursor" of a page'

/** Returns the problems with parameters that a cursor cannot be combined with, whatever their values. */
function unfitForCursor({ consumer, page }: PositionQuery, walk: WalkQuery): Problem[] {
  const problems: Problem[] = []
  if (page !== undefined)
    problems.push({
      path: 'page',
      code: 'invalid',
      message: '"page" must not be sent together with "cursor"',
    })
  if (consumer !== undefined && allParameters.some((name) => walk[name] !== undefined))
    problems.push(
      invalidCursor('"cursor" must come from a page without filters if it is sent together with "consumer"'),
    )
  return problems
}

function invalidCursor(message: string): Problem {
  return { path: 'cursor', code: 'invalid', message }
}

/** Returns the parameters of a query that filter this feed. */
function ownParameters(feed: Feed, query: FilterParameters): FilterParameters {
  const names = Object.keys(feed.parameters) as (keyof FilterParameters)[]
  return Object.fromEntries(names.map((name) => [name, query[name]]))
}

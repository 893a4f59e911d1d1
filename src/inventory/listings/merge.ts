import { invalidFields, type Problem } from '../../core/errors.ts'
import { isObject } from '../../http/schema/normalize.ts'
import { maxProblems } from '../../http/schema/problems.ts'
import type { ListingPatch } from './fields.ts'
import type { ListingContent, StoredRoom, StoredRoomType } from './model.ts'

/**
 * Merges a sent listing into the stored one (decisions §5). Objects are merged field by field, and `room_types` and
 * their `rooms` are merged by id. Every other array is replaced, and null clears a scalar.
 */

/**
 * How a string id is interpreted: always as the partner's (`partner`, for POST), or as ours if it consists of digits
 * (`internal`, for PATCH).
 */
export type IdReading = 'partner' | 'internal'

/** Source of ids for new room types and rooms. Each method returns the next id. */
export interface NewIds {
  roomType(): number
  room(): number
}

const nothing: Pick<ListingContent, 'room_types'> = { room_types: [] }

/**
 * Returns the merged content. `current` is null for a new listing and is never modified.
 *
 * @throws DomainError `validation` at the path of an id that does not belong to this listing or is sent twice, or at
 * the path of a name that must not be null
 */
export function mergeListing(
  current: ListingContent | null,
  sent: ListingPatch,
  reading: IdReading,
  newIds: NewIds,
): ListingContent {
  const problems: Problem[] = []
  const { room_types, ...rest } = sent
  const merged = mergeObjects<Partial<ListingContent>>(current ?? nothing, rest) as ListingContent
  const context = { reading, problems, newIds }
  merged.room_types = mergeRoomTypes(current?.room_types ?? [], room_types ?? [], context)
  if (problems.length > 0) throw invalidFields(problems)
  return merged
}

interface MergeContext {
  reading: IdReading
  problems: Problem[]
  newIds: NewIds
}

function mergeRoomTypes(
  current: StoredRoomType[],
  sent: NonNullable<ListingPatch['room_types']>,
  context: MergeContext,
): StoredRoomType[] {
  return mergeById({ current, sent, path: 'room_types' }, context, (existing, element, path) => {
    const { id: _, rooms, ...rest } = element
    const merged = existing ?? { id: context.newIds.roomType(), partner_id: null, rooms: [] }
    return {
      ...mergeObjects<StoredRoomType>(merged, rest),
      rooms: mergeById(
        { current: merged.rooms, sent: rooms ?? [], path: `${path}.rooms` },
        context,
        mergeRoom(context),
      ),
    }
  })
}

function mergeRoom({ newIds }: MergeContext) {
  return (existing: StoredRoom | undefined, { id: _, ...rest }: Fields): StoredRoom => {
    const merged = existing ?? { id: newIds.room(), partner_id: null }
    return mergeObjects<StoredRoom>(merged, rest)
  }
}

interface Identified {
  id: number
  partner_id: string | null
  name?: string | null
}

/** Stored elements and the elements that were sent, at a path of the body. */
interface MergedList<T, S> {
  current: T[]
  sent: S[]
  path: string
}

function mergeById<T extends Identified, S extends { id?: number | string | null; name?: string | null }>(
  { current, sent, path }: MergedList<T, S>,
  { reading, problems }: MergeContext,
  merge: (existing: T | undefined, sent: S, path: string) => T,
): T[] {
  const result = [...current]
  const indexes = indexesById(current)
  const seen = new Set<number | string>()
  const refuse = (at: string, problem: string) => {
    if (problems.length < maxProblems)
      problems.push({ path: at, code: 'invalid', message: `"${at}" ${problem}` })
  }
  for (const [index, element] of sent.entries()) {
    const id = readId(element.id, reading)
    const at = id === null ? undefined : indexes.get(id)
    const existing = at === undefined ? undefined : current[at]
    const key = existing?.id ?? id
    const problem = problemWith(key, existing !== undefined, seen)
    if (problem) {
      refuse(`${path}.${index}.id`, problem)
      continue
    }
    if (element.name === null && existing?.name) {
      refuse(`${path}.${index}.name`, 'must not be null')
    }
    if (key !== null) seen.add(key)
    const merged = merge(existing, element, `${path}.${index}`)
    if (at !== undefined) result[at] = merged
    else result.push(typeof id === 'string' ? { ...merged, partner_id: id } : merged)
  }
  return result
}

/** Maps our ids and the partner's ids to element indexes. If two elements have the same id, the first element wins. */
function indexesById(elements: Identified[]): Map<number | string, number> {
  const indexes = new Map<number | string, number>()
  for (const [index, { id, partner_id }] of elements.entries())
    for (const key of partner_id === null ? [id] : [id, partner_id])
      if (!indexes.has(key)) indexes.set(key, index)
  return indexes
}

function problemWith(
  key: number | string | null,
  isKnown: boolean,
  seen: Set<number | string>,
): string | null {
  if (key === null) return null
  if (typeof key === 'number' && !isKnown) return 'is not an id of this listing'
  return seen.has(key) ? 'is sent twice' : null
}

function readId(id: number | string | null | undefined, reading: IdReading): number | string | null {
  if (id === null || id === undefined) return null
  return reading === 'internal' && typeof id === 'string' && /^[1-9]\d{0,15}$/.test(id) ? Number(id) : id
}

type Fields = Record<string, unknown>

/** Returns `current` with the sent fields, which the request's schema has given the fields' types. */
function mergeObjects<T extends object>(current: T, sent: object): T {
  const merged = { ...current } as Fields
  for (const [key, value] of Object.entries(sent)) {
    const before = merged[key]
    merged[key] = isObject(value) ? mergeObjects(isObject(before) ? before : {}, value) : value
  }
  return merged as T
}

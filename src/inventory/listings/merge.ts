import { invalidField, invalidFields, type Problem } from '../../core/errors.ts'
import type { IdSource } from '../../core/sequences.ts'
import { isObject } from '../../http/input/schema/normalize.ts'
import { maxProblems } from '../../http/input/schema/problems.ts'
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

/**
 * Merges a change into a listing's content, with ids for new room types and rooms. `current` is null for a new listing
 * and is never modified. Sequences are not part of a transaction, so no other writer waits for the ids, and a transaction
 * that is repeated leaves a gap.
 *
 * @throws DomainError `validation` if what was sent does not fit the listing, or if the listing becomes too large
 */
export async function merge(
  ids: IdSource,
  current: ListingContent | null,
  { sent, reading }: { sent: ListingPatch; reading: IdReading },
): Promise<ListingContent> {
  const merged = mergeListing(current, sent, reading)
  const take = (name: 'room_type' | 'room', amount: number) => (amount > 0 ? ids(name, amount) : 0)
  const [roomType, room] = await Promise.all([
    take('room_type', merged.lacking.roomTypes),
    take('room', merged.lacking.rooms),
  ])
  const content = withNewIds(merged, { roomType, room })
  requireSize(content)
  return content
}

/** A room, or a new one that has no id yet. */
type MergedRoom = Omit<StoredRoom, 'id'> & { id: number | null }
/** A room type, or a new one that has no id yet. */
type MergedRoomType = Omit<StoredRoomType, 'id' | 'rooms'> & { id: number | null; rooms: MergedRoom[] }

/** The content of a merged listing, and the number of its new room types and rooms, which have no ids yet. */
export interface MergedListing {
  content: Omit<ListingContent, 'room_types'> & { room_types: MergedRoomType[] }
  lacking: { roomTypes: number; rooms: number }
}

const nothing: Pick<ListingContent, 'room_types'> = { room_types: [] }

/**
 * Merges what was sent into a listing's content. `current` is null for a new listing and is never modified. Pass the
 * result to {@link withNewIds}.
 *
 * @throws DomainError `validation` at the path of an id that does not belong to this listing or is sent twice, or at
 * the path of a name that must not be null
 */
export function mergeListing(
  current: ListingContent | null,
  sent: ListingPatch,
  reading: IdReading,
): MergedListing {
  const problems: Problem[] = []
  const { room_types: sentRoomTypes = [], ...rest } = sent
  const merged = mergeObjects<Partial<ListingContent>>(current ?? nothing, rest) as ListingContent
  const room_types = mergeRoomTypes(current?.room_types ?? [], sentRoomTypes, { reading, problems })
  if (problems.length > 0) throw invalidFields(problems)
  const lacking = {
    roomTypes: countNew(room_types),
    rooms: room_types.reduce((sum, { rooms }) => sum + countNew(rooms), 0),
  }
  return { content: { ...merged, room_types }, lacking }
}

/**
 * Returns a merged listing's content, with ids for its new room types and rooms.
 *
 * @param first the first of the ids that its new room types get, and the first of those that its new rooms get
 */
export function withNewIds(
  { content }: MergedListing,
  first: { roomType: number; room: number },
): ListingContent {
  const room_types: StoredRoomType[] = []
  let firstRoom = first.room
  for (const roomType of numberNew(content.room_types, first.roomType)) {
    room_types.push({ ...roomType, rooms: numberNew(roomType.rooms, firstRoom) })
    firstRoom += countNew(roomType.rooms)
  }
  return { ...content, room_types }
}

function countNew(elements: { id: number | null }[]): number {
  return elements.filter(({ id }) => id === null).length
}

function numberNew<T extends { id: number | null }>(elements: T[], first: number): (T & { id: number })[] {
  let next = first
  return elements.map((element) => ({ ...element, id: element.id ?? next++ }))
}

interface MergeContext {
  reading: IdReading
  problems: Problem[]
}

function mergeRoomTypes(
  current: StoredRoomType[],
  sent: NonNullable<ListingPatch['room_types']>,
  context: MergeContext,
): MergedRoomType[] {
  return mergeById({ current, sent, path: 'room_types' }, context, (existing, element, path) => {
    const { id: _, rooms, ...rest } = element
    const merged = mergeObjects<MergedRoomType>(existing ?? { id: null, partner_id: null, rooms: [] }, rest)
    const known = existing?.rooms ?? []
    merged.rooms = mergeById({ current: known, sent: rooms ?? [], path: `${path}.rooms` }, context, mergeRoom)
    return merged
  })
}

function mergeRoom(existing: StoredRoom | undefined, { id: _, ...rest }: Fields): MergedRoom {
  return mergeObjects<MergedRoom>(existing ?? { id: null, partner_id: null }, rest)
}

interface Identified {
  id: number
  partner_id: string | null
  name?: string | null
}

interface SentElement {
  id?: number | string | null
  name?: string | null
}

/** Stored elements and the elements that were sent, at a path of the body. */
interface MergedList<Stored, Sent> {
  current: Stored[]
  sent: Sent[]
  path: string
}

function mergeById<Merged extends object, Stored extends Merged & Identified, Sent extends SentElement>(
  { current, sent, path }: MergedList<Stored, Sent>,
  { reading, problems }: MergeContext,
  mergeOne: (existing: Stored | undefined, sent: Sent, path: string) => Merged,
): Merged[] {
  const result: Merged[] = [...current]
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
    const merged = mergeOne(existing, element, `${path}.${index}`)
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

/**
 * Maximum size of a listing as JSON, in bytes (decisions §5). The service holds the whole JSON in memory while a slow
 * client reads it.
 */
export const maxBytes = 1024 * 1024

/** Returns the size of a listing's content, or of a part of it, as JSON, in bytes. */
export function bytesOf(content: object): number {
  return Buffer.byteLength(JSON.stringify(content))
}

/**
 * Maximum number of rooms in a listing, over all room types. A page contains up to 100 listings with all of their
 * rooms.
 */
const maxRooms = 2000

/** @throws DomainError `validation` if the listing has too many rooms or is too large */
function requireSize(content: ListingContent): void {
  if (content.room_types.reduce((sum, { rooms }) => sum + rooms.length, 0) > maxRooms)
    throw invalidField('room_types', `A listing must have at most ${maxRooms} rooms`, 'max')
  if (bytesOf(content) > maxBytes)
    throw invalidField('body', `The listing must be at most ${maxBytes} bytes as JSON`, 'max')
}

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { complete } from '../../../src/http/input/schema/complete.ts'
import { normalize } from '../../../src/http/input/schema/normalize.ts'
import { ListingCreate, ListingPatch } from '../../../src/inventory/listings/fields.ts'
import { type IdReading, mergeListing, withNewIds } from '../../../src/inventory/listings/merge.ts'
import type { ListingContent } from '../../../src/inventory/listings/model.ts'
import { valuesOf } from '../../support/schema-arbitrary.ts'
import { runs } from '../../support/soak.ts'

/** Ids from here on belong to no element. */
let free = 1000

/** Merges a valid body, and gives a new id to each new element. */
function mergeValid(current: ListingContent | null, sent: ListingPatch, reading: IdReading) {
  const merged = mergeListing(current, sent, reading)
  const { roomTypes, rooms } = merged.lacking
  const first = { roomType: free, room: free + roomTypes }
  free += roomTypes + rooms
  return withNewIds(merged, first)
}

const merge = (current: ListingContent | null, sent: object, reading: IdReading = 'internal') =>
  mergeValid(current, normalize(ListingPatch, sent), reading)

const base = () =>
  merge(
    null,
    {
      name: 'Base',
      location: { city: 'Rome', zip: '00100' },
      amenities: [{ id: 1 }, { id: 2 }],
      room_types: [
        {
          id: 'a',
          name: 'A',
          rooms: [
            { id: 'r1', name: 'R1' },
            { id: '7', name: 'R2' },
          ],
          prices: { base_price: 5, price_jan: 6 },
        },
        { id: 'b', name: 'B' },
      ],
    },
    'partner',
  )

const problemsOf = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    return (error as { problems: { path: string; code: string }[] }).problems.map(
      ({ path, code }) => `${path} ${code}`,
    )
  }
  throw new Error('No error was thrown')
}

describe('mergeListing()', () => {
  test('merges objects field by field, and null clears a field', () => {
    const merged = merge(base(), { location: { zip: null, street: 1 } })
    expect(merged.location).toEqual({ city: 'Rome', zip: null })
  })

  test('replaces all arrays completely except room types and rooms', () => {
    expect(merge(base(), { amenities: [{ id: 9 }] }).amenities).toEqual([{ id: 9 }])
    expect(merge(base(), { amenities: [] }).amenities).toEqual([])
    expect(merge(base(), {}).amenities).toEqual([{ id: 1 }, { id: 2 }])
  })

  test('updates a room type with a known id, and keeps omitted room types', () => {
    const before = base()
    const [a, b] = before.room_types
    const merged = merge(before, { room_types: [{ id: a?.id, prices: { price_jan: null } }] })
    expect(merged.room_types).toEqual([{ ...a, prices: { base_price: 5, price_jan: null } }, b])
  })

  test("reads a digit string as the partner's id on POST and as our id on PATCH", () => {
    const before = base()
    const [a] = before.room_types
    const posted = merge(before, { room_types: [{ id: 'a', rooms: [{ id: '7', name: 'New' }] }] }, 'partner')
    expect(posted.room_types[0]?.rooms.map(({ name }) => name)).toEqual(['R1', 'New'])
    const patched = merge(before, { room_types: [{ id: String(a?.id), name: 'New' }] }, 'internal')
    expect(patched.room_types.map(({ name }) => name)).toEqual(['New', 'B'])
    expect(
      problemsOf(() => merge(before, { room_types: [{ id: 'a', rooms: [{ id: '7' }] }] }, 'internal')),
    ).toEqual(['room_types.0.rooms.0.id invalid'])
  })

  test('adds elements without an id or with an unknown partner id', () => {
    const merged = merge(base(), {
      room_types: [{ name: 'C' }, { id: 'd', name: 'D' }, { id: 'a', rooms: [{ id: 'r9' }] }],
    })
    expect(merged.room_types).toMatchObject([
      { name: 'A', partner_id: 'a' },
      { name: 'B', partner_id: 'b' },
      { name: 'C', partner_id: null },
      { name: 'D', partner_id: 'd' },
    ])
    expect(merged.room_types[0]?.rooms.map(({ partner_id }) => partner_id)).toEqual(['r1', '7', 'r9'])
  })

  test.each([
    { what: 'nothing', sent: {}, lacking: { roomTypes: 0, rooms: 0 } },
    {
      what: 'known elements',
      sent: { room_types: [{ id: 'a', rooms: [{ id: 'r1' }] }] },
      lacking: { roomTypes: 0, rooms: 0 },
    },
    {
      what: 'a room of a known room type',
      sent: { room_types: [{ id: 'a', rooms: [{ id: 'r9' }] }] },
      lacking: { roomTypes: 0, rooms: 1 },
    },
    {
      what: 'a room type with two rooms',
      sent: { room_types: [{ rooms: [{}, {}] }] },
      lacking: { roomTypes: 1, rooms: 2 },
    },
  ])('counts the ids that are lacking once $what is sent', ({ sent, lacking }) => {
    expect(mergeListing(base(), sent, 'partner').lacking).toEqual(lacking)
  })

  test('gives new elements the ids that follow the first ones, and keeps the ids of all others', () => {
    const before = base()
    const [a, b] = before.room_types
    const sent = {
      room_types: [
        { name: 'C', rooms: [{}, {}] },
        { id: 'a', rooms: [{}] },
        { name: 'D', rooms: [{}] },
      ],
    }
    const { room_types } = withNewIds(mergeListing(before, sent, 'partner'), { roomType: 50, room: 70 })
    expect(room_types.map(({ id, rooms }) => ({ id, rooms: rooms.map((room) => room.id) }))).toEqual([
      { id: a?.id, rooms: [...(a?.rooms ?? []).map(({ id }) => id), 70] },
      { id: b?.id, rooms: [] },
      { id: 50, rooms: [71, 72] },
      { id: 51, rooms: [73] },
    ])
  })

  test('refuses an integer that is not an id of this listing, a repeated id and a cleared name', () => {
    const before = base()
    const id = before.room_types[0]?.id
    expect(problemsOf(() => merge(before, { room_types: [{ id: 999_999 }] }))).toEqual([
      'room_types.0.id invalid',
    ])
    expect(problemsOf(() => merge(null, { name: 'N', room_types: [{ id: 5 }] }, 'partner'))).toEqual([
      'room_types.0.id invalid',
    ])
    expect(problemsOf(() => merge(before, { room_types: [{ id }, { id: 'a' }] }))).toEqual([
      'room_types.1.id invalid',
    ])
    expect(problemsOf(() => merge(before, { room_types: [{ id: 'x' }, { id: 'x' }] }))).toEqual([
      'room_types.1.id invalid',
    ])
    expect(problemsOf(() => merge(before, { room_types: [{ id, name: null }] }))).toEqual([
      'room_types.0.name invalid',
    ])
    // A null name is accepted if no name is stored (decisions §5).
    expect(merge(before, { room_types: [{ name: null }] }).room_types.at(-1)?.name).toBeNull()
  })
})

const creates = valuesOf(ListingCreate) as fc.Arbitrary<{
  name: string
  room_types?: { id?: unknown; rooms?: { id?: unknown }[] }[]
}>

/** Bodies whose elements have distinct partner ids, as a system with stable ids sends them. */
const identified = creates.map((body) => ({
  ...body,
  room_types: (body.room_types ?? []).map((roomType, index) => ({
    ...withoutNullName(roomType),
    id: `t${index}`,
    rooms: (roomType.rooms ?? []).map((room, at) => ({ ...withoutNullName(room), id: `r${at}` })),
  })),
}))

function withoutNullName<T extends object>(element: T): T {
  return (element as { name?: unknown }).name === null ? { ...element, name: 'Named' } : element
}

const read = (content: ListingContent) => complete(ListingPatch, content)
const post = (current: ListingContent | null, body: object) =>
  mergeValid(current, normalize(ListingCreate, body), 'partner')
const often = runs(100)

/** Returns our ids and the partner's ids of all room types and rooms, in order. */
function idsOf(content: ListingContent) {
  return content.room_types.map(({ id, partner_id, rooms }) => ({
    own: [id, partner_id],
    rooms: rooms.map((room) => [room.id, room.partner_id]),
  }))
}

describe('for any listing', () => {
  test('a PATCH with the values that were read changes nothing', () => {
    fc.assert(
      fc.property(identified, (body) => {
        const stored = post(null, body)
        expect(read(merge(stored, read(stored)))).toEqual(read(stored))
      }),
      often,
    )
  })

  test('a second equal POST changes nothing', () => {
    fc.assert(
      fc.property(identified, (body) => {
        const once = post(null, body)
        expect(read(post(once, body))).toEqual(read(once))
      }),
      often,
    )
  })

  test('a PATCH of one field changes no other field', () => {
    fc.assert(
      fc.property(identified, identified, fc.integer({ min: 0 }), (body, other, pick) => {
        const stored = post(null, body)
        const sent = (Object.keys(other) as (keyof typeof other)[]).filter((key) => {
          return key !== 'room_types' && other[key] !== undefined
        })
        const key = sent[pick % sent.length] as keyof typeof other
        const patched = read(merge(stored, { [key]: other[key] }))
        expect({ ...patched, [key]: null }).toEqual({ ...read(stored), [key]: null })
      }),
      often,
    )
  })

  test('a POST with a different body changes no id', () => {
    fc.assert(
      fc.property(identified, identified, (body, other) => {
        const stored = post(null, body)
        const after = post(stored, other)
        const known = idsOf(stored)
        const idsAfter = idsOf(after)
        expect(idsAfter.slice(0, known.length).map(({ own }) => own)).toEqual(known.map(({ own }) => own))
        for (const [index, { rooms }] of known.entries()) {
          expect(idsAfter[index]?.rooms.slice(0, rooms.length)).toEqual(rooms)
        }
      }),
      often,
    )
  })
})

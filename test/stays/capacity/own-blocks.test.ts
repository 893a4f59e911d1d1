import { expect, test } from 'vitest'
import { recognizeBookings } from '../../../src/stays/capacity/own-blocks.ts'

const today = '2027-03-10'
const at = (second: number) => new Date(Date.UTC(2027, 2, 1, 0, 0, second))

/** Written as `id: from > to @ second`, such as `7: 12 > 14 @ 3`, with days of March. */
const parse = (text: string) => text.split(/[:>@]/).map(Number) as [number, number, number, number]
const day = (number: number) => `2027-03-${String(number).padStart(2, '0')}`

function recognize(stays: string[], blocks: string[]): string[] {
  const parsed = blocks.map((text) => {
    const [room_id, first, end, second] = parse(text)
    return {
      room_id,
      blocks: [{ start_date: day(first), end_date: day(end), seen_at: at(second) }],
      text,
    }
  })
  const byRoom = [...Map.groupBy(parsed, ({ room_id }) => room_id)].map(([room_id, ofRoom]) => ({
    room_id,
    blocks: ofRoom.flatMap((one) => one.blocks),
  }))
  const recognized = recognizeBookings(
    stays.map((text) => {
      const [id, first, end, second] = parse(text)
      return { id, checkin_at: day(first), checkout_at: day(end), created_at: at(second) }
    }),
    byRoom,
    today,
  )
  return parsed.flatMap(({ text, blocks: [block] }) => {
    const id = block && recognized.get(block)
    return id === undefined ? [] : [`${text} is ${id}`]
  })
}

test.each<[string, string[], string[], string[]]>([
  [
    'with the dates of a booking is the booking',
    ['7: 12 > 14 @ 1'],
    ['1: 12 > 14 @ 2'],
    ['1: 12 > 14 @ 2 is 7'],
  ],
  ['with another start is not the booking', ['7: 12 > 14 @ 1'], ['1: 13 > 14 @ 2', '1: 11 > 14 @ 2'], []],
  ['with another end is not the booking', ['7: 12 > 14 @ 1'], ['1: 12 > 13 @ 2', '1: 12 > 15 @ 2'], []],
  [
    'of a running stay may have moved its start up to today',
    ['7: 5 > 14 @ 1'],
    ['1: 10 > 14 @ 2'],
    ['1: 10 > 14 @ 2 is 7'],
  ],
  ['that starts after today is not the running stay', ['7: 5 > 14 @ 1'], ['1: 11 > 14 @ 2'], []],
  ['that starts before the check-in is not the running stay', ['7: 8 > 14 @ 1'], ['1: 7 > 14 @ 2'], []],
  ['is one booking only', ['7: 12 > 14 @ 1', '8: 12 > 14 @ 2'], ['1: 12 > 14 @ 3'], ['1: 12 > 14 @ 3 is 7']],
  [
    'that was seen first is the booking, another one is another stay',
    ['7: 12 > 14 @ 1'],
    ['1: 12 > 14 @ 5', '2: 12 > 14 @ 4'],
    ['2: 12 > 14 @ 4 is 7'],
  ],
  [
    'is a booking for each of as many equal bookings as there are blocks',
    ['8: 12 > 14 @ 2', '7: 12 > 14 @ 1'],
    ['1: 12 > 14 @ 4', '2: 12 > 14 @ 3'],
    ['1: 12 > 14 @ 4 is 8', '2: 12 > 14 @ 3 is 7'],
  ],
  [
    'twice in one room is one block',
    ['7: 12 > 14 @ 1', '8: 12 > 14 @ 2'],
    ['1: 12 > 14 @ 3', '1: 12 > 14 @ 4'],
    ['1: 12 > 14 @ 3 is 7', '1: 12 > 14 @ 4 is 7'],
  ],
  [
    'of two running stays that end together is first the one with its dates',
    ['7: 5 > 14 @ 1', '8: 8 > 14 @ 2'],
    ['1: 8 > 14 @ 3', '2: 9 > 14 @ 4'],
    ['1: 8 > 14 @ 3 is 8', '2: 9 > 14 @ 4 is 7'],
  ],
])('a block %s', (_, stays, blocks, expected) => {
  expect(recognize(stays, blocks)).toEqual(expected)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import {
  type Decision,
  decide,
  type KnownCalendar,
  nightsAfter,
} from '../../../src/inventory/calendars/decide.ts'
import type { NightRange } from '../../../src/inventory/calendars/file/read.ts'
import { runs } from '../../support/soak.ts'

const today = '2027-03-01'
const day = (offset: number) => addDays(today, offset)
const minutes = (count: number) => new Date(Date.parse(`${today}T08:00:00Z`) + count * 60_000)

/** Nights `from` to `to`, inclusive, as a block: offsets from today. */
const block = (from: number, to: number): NightRange => ({ start_date: day(from), end_date: day(to + 1) })

const unread: KnownCalendar = { read_at: null, hold_since: null, blocks: [], nights: [], missing: [] }

/** One reading of a story: minutes since the start, and the file's blocks; null if the file is unchanged. */
interface Step {
  at: number
  blocks: NightRange[] | null
  accepts?: boolean
}

interface State {
  known: KnownCalendar
  decision: Decision | null
}

function read({ known }: State, { at, blocks, accepts = false }: Step, onDay = today): State {
  const decision = decide(known, { blocks, at: minutes(at), today: onDay, accepts })
  const nights = nightsAfter(decision, { sequence: at, at: minutes(at) })
  const { hold_since, missing } = decision
  return { known: { read_at: minutes(at), hold_since, blocks: decision.blocks, nights, missing }, decision }
}

const play = (...steps: Step[]): State =>
  steps.reduce((state, step) => read(state, step), { known: unread, decision: null } as State)

/** Blocked nights as offsets from today. */
function blocked({ known }: State): number[] {
  const found: number[] = []
  for (const { from, to } of known.nights)
    for (let night = from; night <= to; night = addDays(night, 1)) found.push(offsetOf(night))
  return found
}

const offsetOf = (night: string) => Math.round((Date.parse(night) - Date.parse(today)) / 86_400_000)
const rangeOf = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

const outcome = (state: State) => ({ status: state.decision?.status, nights: blocked(state) })

test('new nights block at once, also while the calendar is held', () => {
  const first = play({ at: 0, blocks: [block(2, 4)] })
  expect(outcome(first)).toEqual({ status: 'ok', nights: [2, 3, 4] })
  const held = read(first, { at: 15, blocks: [] })
  expect(outcome(held)).toEqual({ status: 'holding', nights: [2, 3, 4] })
  const more = read(held, { at: 30, blocks: [block(8, 8)] })
  expect(outcome(more)).toEqual({ status: 'holding', nights: [2, 3, 4, 8] })
})

test('a missing night is freed by the second reading without it, and 10 minutes after the first', () => {
  const whole = { at: 0, blocks: [block(0, 9)] }
  const less = (at: number) => ({ at, blocks: [block(0, 7)] })
  expect(outcome(play(whole, less(15)))).toEqual({ status: 'ok', nights: rangeOf(0, 9) })
  expect(outcome(play(whole, less(15), less(24.9)))).toEqual({ status: 'ok', nights: rangeOf(0, 9) })
  expect(outcome(play(whole, less(15), less(25)))).toEqual({ status: 'ok', nights: rangeOf(0, 7) })
  // One reading that has the nights starts the wait again.
  expect(outcome(play(whole, less(15), { ...whole, at: 20 }, less(30)))).toEqual({
    status: 'ok',
    nights: rangeOf(0, 9),
  })
})

test('an unchanged file confirms what was missing', () => {
  const state = play(
    { at: 0, blocks: [block(0, 9)] },
    { at: 15, blocks: [block(0, 7)] },
    { at: 30, blocks: null },
  )
  expect(outcome(state)).toEqual({ status: 'ok', nights: rangeOf(0, 7) })
  expect(state.decision?.freed).toEqual([{ from: day(8), to: day(9) }])
})

test('a reading that leaves none of the nights, or takes more than half and more than ten, is held', () => {
  const lacks = (had: number, left: number) =>
    play({ at: 0, blocks: [block(0, had - 1)] }, { at: 15, blocks: left > 0 ? [block(0, left - 1)] : [] })
      .decision?.status
  expect({
    'the only night': lacks(1, 0),
    'ten of eleven': lacks(11, 1),
    'eleven of twelve': lacks(12, 1),
    'eleven of twenty-two': lacks(22, 11),
    'eleven of twenty-one': lacks(21, 10),
  }).toEqual({
    'the only night': 'holding',
    'ten of eleven': 'ok',
    'eleven of twelve': 'holding',
    'eleven of twenty-two': 'ok',
    'eleven of twenty-one': 'holding',
  })
})

test('a held calendar takes the file as it is after 24 hours of such readings, or when the host accepts it', () => {
  const start = { at: 0, blocks: [block(0, 19)] }
  const empty = (at: number) => ({ at, blocks: [] })
  const day1 = 15 + 24 * 60
  expect(outcome(play(start, empty(15), empty(day1 - 1)))).toEqual({
    status: 'holding',
    nights: rangeOf(0, 19),
  })
  expect(outcome(play(start, empty(15), empty(day1)))).toEqual({ status: 'ok', nights: [] })
  expect(outcome(play(start, empty(15), { ...empty(16), accepts: true }))).toEqual({
    status: 'ok',
    nights: [],
  })
  // Each reading is judged anew: a full one in between ends the holding, and the next empty one starts another.
  const again = play(start, empty(15), { ...start, at: 60 }, empty(day1))
  expect(outcome(again)).toEqual({ status: 'holding', nights: rangeOf(0, 19) })
  expect(again.known.hold_since).toEqual(minutes(day1))
})

test('the first good reading of a new address replaces the blocks of the old one without waiting', () => {
  const old = play({ at: 0, blocks: [block(0, 19)] })
  const changed: State = { ...old, known: { ...old.known, read_at: null, hold_since: null } }
  expect(outcome(read(changed, { at: 5, blocks: [block(3, 3)] }))).toEqual({ status: 'ok', nights: [3] })
})

test('a night keeps the moment at which it became blocked while its block grows or moves', () => {
  const grown = play({ at: 0, blocks: [block(2, 4)] }, { at: 15, blocks: [block(2, 5)] })
  expect(grown.known.nights.map(({ from, to, sequence }) => ({ from, to, sequence }))).toEqual([
    { from: day(2), to: day(4), sequence: 0 },
    { from: day(5), to: day(5), sequence: 15 },
  ])
})

test('a block that is gone stays whole while all of its nights are blocked, and then only its missing nights', () => {
  const state = play(
    { at: 0, blocks: [block(0, 9), block(20, 29), block(40, 60)] },
    { at: 5, blocks: [block(0, 9), block(25, 29), block(40, 60)] },
  )
  const shown = ({ known }: State) =>
    known.blocks.map(({ start_date, end_date, is_gone }) => [
      offsetOf(start_date),
      offsetOf(end_date),
      is_gone,
    ])
  expect(shown(state)).toEqual([
    [0, 10, false],
    [20, 30, true],
    [25, 30, false],
    [40, 61, false],
  ])
  const next = read(state, { at: 12, blocks: [block(0, 8), block(25, 29), block(40, 60)] })
  const last = read(next, { at: 15, blocks: [block(0, 8), block(25, 29), block(40, 60)] })
  expect(shown(last)).toEqual([
    [0, 9, false],
    [0, 10, true],
    [25, 30, false],
    [40, 61, false],
  ])
})

test('nights that have passed, or lie beyond the 1,095th day, count for nothing; a block keeps its dates', () => {
  const state = play({ at: 0, blocks: [block(-5, 1), block(-9, -1), block(1094, 1200), block(1096, 1099)] })
  expect(blocked(state)).toEqual([0, 1, 1094, 1095])
  expect(state.known.blocks.map(({ start_date, end_date }) => ({ start_date, end_date }))).toEqual([
    block(-5, 1),
    block(1094, 1200),
  ])
  // The only night that is left passes, so the reading after it lacks nothing.
  const later = read(state, { at: 30, blocks: [block(1094, 1200)] }, day(2))
  expect({ status: later.decision?.status, freed: later.decision?.freed }).toEqual({
    status: 'ok',
    freed: [],
  })
})

test('decide() agrees with a walk over the whole history, night by night', () => {
  const nightSpan = 30
  const blocksOf = fc.array(
    fc.record({ from: fc.integer({ min: -3, max: nightSpan }), length: fc.integer({ min: 1, max: 25 }) }),
    { maxLength: 4 },
  )
  const steps = fc.array(
    fc.record({
      wait: fc.constantFrom(1, 5, 9, 10, 15, 120, 800, 1440),
      blocks: fc.option(blocksOf, { freq: 4 }),
      accepts: fc.boolean().map((is) => is),
      rare: fc.integer({ min: 0, max: 9 }),
      changesAddress: fc.integer({ min: 0, max: 19 }),
    }),
    { minLength: 1, maxLength: 14 },
  )
  fc.assert(
    fc.property(steps, (sent) => {
      let state: State = { known: unread, decision: null }
      let at = 0
      const history: Reading[] = []
      for (const { wait, blocks, rare, changesAddress } of sent) {
        at += wait
        const isNew = changesAddress === 0
        if (isNew) state = { ...state, known: { ...state.known, read_at: null, hold_since: null } }
        const last = history.at(-1)?.file ?? new Set<number>()
        const ranges = blocks?.map(({ from, length }) => block(from, from + length - 1)) ?? null
        const isWhole = ranges !== null || isNew
        const step: Step = { at, blocks: isWhole ? unique(ranges ?? []) : null, accepts: rare === 0 }
        const file = isWhole ? nightsIn(blocks ?? []) : new Set([...last])
        history.push({ at, file, takes: step.accepts === true || isNew || history.length === 0 })
        state = read(state, step)
        const walked = walk(history)
        expect(outcome(state)).toEqual({
          status: walked.holdSince === null ? 'ok' : 'holding',
          nights: [...walked.blocked.keys()].sort((one, other) => one - other),
        })
        for (const { from, to, sequence } of state.known.nights)
          for (let night = from; night <= to; night = addDays(night, 1))
            expect({ night, since: walked.blocked.get(offsetOf(night)) }).toEqual({ night, since: sequence })
        expect(covered(state)).toEqual(blocked(state))
      }
    }),
    runs(150),
  )

  interface Reading {
    at: number
    file: Set<number>
    takes: boolean
  }

  function nightsIn(blocks: { from: number; length: number }[]): Set<number> {
    return new Set(
      blocks.flatMap(({ from, length }) => rangeOf(from, from + length - 1)).filter((one) => one >= 0),
    )
  }

  function unique(ranges: NightRange[]): NightRange[] {
    return [...new Map(ranges.map((range) => [`${range.start_date} ${range.end_date}`, range])).values()]
  }

  /** The nights that the blocks cover, which must be the blocked ones. */
  function covered({ known }: State): number[] {
    const found = new Set<number>()
    for (const { start_date, end_date } of known.blocks)
      for (const night of rangeOf(offsetOf(start_date), offsetOf(end_date) - 1))
        if (night >= 0) found.add(night)
    return [...found].sort((one, other) => one - other)
  }

  /** Says from the first reading on what is blocked, by looking back at the readings before each. */
  function walk(history: Reading[]): { blocked: Map<number, number>; holdSince: number | null } {
    const blocked = new Map<number, number>()
    let holdSince: number | null = null
    for (const [index, { at, file, takes }] of history.entries()) {
      const lacking = [...blocked.keys()].filter((night) => !file.has(night))
      const isTooMuch =
        lacking.length > 0 &&
        (lacking.length === blocked.size || (lacking.length > 10 && lacking.length > blocked.size / 2))
      if (takes || !isTooMuch) holdSince = null
      else holdSince ??= at
      const isOver = holdSince !== null && at - holdSince >= 24 * 60
      for (const night of lacking) {
        const without = readingsWithout(history.slice(0, index + 1), night)
        const isConfirmed = without.length >= 2 && at - (without[0]?.at ?? 0) >= 10
        if (takes || isOver || (holdSince === null && isConfirmed)) blocked.delete(night)
      }
      if (isOver) holdSince = null
      for (const night of file) if (!blocked.has(night)) blocked.set(night, at)
    }
    return { blocked, holdSince }
  }

  /** The readings in a row, up to the last, that lack a night. */
  function readingsWithout(history: Reading[], night: number): Reading[] {
    const last = history.findLastIndex(({ file }) => file.has(night))
    return history.slice(last + 1)
  }
})

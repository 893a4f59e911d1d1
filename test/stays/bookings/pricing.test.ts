import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { priceStay } from '../../../src/stays/bookings/pricing.ts'
import { firstFullNight } from '../../../src/stays/bookings/units.ts'
import { runs } from '../../support/soak.ts'

test.each([
  ['a whole month costs its price', '2027-04-01', 30, { base_price: 900 }, 90_000],
  ['a night costs its part of the month', '2027-02-28', 1, { base_price: 280 }, 1000],
  [
    'each night costs its part of its own month',
    '2027-01-31',
    2,
    { base_price: 0, price_jan: 310, price_feb: 560 },
    3000,
  ],
  [
    'an override of null falls back to the base price',
    '2027-01-01',
    31,
    { base_price: 31, price_jan: null },
    3100,
  ],
  ['an override of 0 is free', '2027-01-01', 31, { base_price: 31, price_jan: 0 }, 0],
  ['February of a leap year has 29 days', '2028-02-01', 29, { base_price: 290 }, 29_000],
  ['an amount between cents is rounded half up in decimal', '2027-02-01', 28, { base_price: 1.005 }, 101],
  ['half a cent is rounded up', '2027-04-01', 1, { base_price: 0.15 }, 1],
  ['without a base price a stay costs nothing', '2027-04-01', 30, {}, 0],
])('priceStay(): %s', (_, from, nights, tariff, cents) => {
  expect(priceStay(from, nights, tariff, []).priceCents).toBe(cents)
})

test.each([
  [89, { discount_90: 10 }, 0],
  [90, { discount_90: 10 }, 10],
  [400, { discount_90: 10, discount_180: 20, discount_360: 30 }, 30],
  [359, { discount_90: 10, discount_180: 20, discount_360: 30 }, 20],
  [400, { discount_90: 10, discount_360: null }, 10],
  [400, { discount_90: 10, discount_180: 0 }, 0],
])('priceStay() of %i nights with %j takes %i percent off', (nights, discounts, percent) => {
  const { priceCents, discountCents, totalCents } = priceStay(
    '2027-01-01',
    nights,
    { base_price: 1000, ...discounts },
    [],
  )
  expect(discountCents).toBe(Math.round((priceCents * percent) / 100))
  expect(totalCents).toBe(priceCents - discountCents)
})

test.each([
  [{ mandatory: 1, frequency: 'once', type: 'fixed', sum: 75.5 }, 7550],
  [{ mandatory: 1, frequency: 'One-Time', type: 'Percentage', sum: 2.5 }, 2250],
  [{ mandatory: 1, frequency: 'ONE_OFF', type: null, sum: 10 }, 1000],
  [{ mandatory: 1, frequency: 'monthly', type: 'fixed', sum: 75 }, 0],
  [{ mandatory: 0, frequency: 'once', type: 'fixed', sum: 75 }, 0],
  [{ mandatory: null, frequency: null, type: null, sum: null }, 0],
])('priceStay() with the fee %j adds %i cents', (fee, cents) => {
  expect(priceStay('2027-04-01', 30, { base_price: 900 }, [fee]).totalCents).toBe(90_000 + cents)
})

test('priceStay() returns the exact sum of the nights, rounded once, for any prices', () => {
  const cents = fc.integer({ min: 0, max: 10_000_000 })
  const tariffs = fc.record({ base: cents, mar: fc.option(cents), apr: fc.option(cents) })
  fc.assert(
    fc.property(
      tariffs,
      fc.integer({ min: 0, max: 700 }),
      fc.integer({ min: 1, max: 200 }),
      ({ base, mar, apr }, start, nights) => {
        const from = addDays('2027-01-01', start)
        // 28 · 29 · 30 · 31 is a multiple of every month's length, so prices are exact integers that do not depend on
        // the code under test.
        const unit = 28n * 29n * 30n * 31n
        let exact = 0n
        for (let night = 0; night < nights; night += 1) {
          const [year, month] = addDays(from, night).split('-').map(Number) as [number, number]
          const price = (month === 3 ? mar : month === 4 ? apr : null) ?? base
          exact += (BigInt(price) * unit) / BigInt(new Date(year, month, 0).getDate())
        }
        const rounded = Number((2n * exact + unit) / (2n * unit))
        const tariff = {
          base_price: base / 100,
          price_mar: mar === null ? null : mar / 100,
          price_apr: apr === null ? null : apr / 100,
        }
        expect(priceStay(from, nights, tariff, []).priceCents).toBe(rounded)
      },
    ),
    runs(100),
  )
})

test('firstFullNight() agrees with a plain table of nights', () => {
  const day = (offset: number) => addDays('2027-01-01', offset)
  const spans = fc.record({
    from: fc.integer({ min: 0, max: 20 }),
    nights: fc.integer({ min: 1, max: 10 }),
    sequence: fc.integer({ min: 1, max: 9 }),
  })
  const cases = fc.record({
    stays: fc.array(spans, { maxLength: 12 }),
    wanted: spans,
    units: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 8, maxLength: 8 }),
  })
  fc.assert(
    fc.property(cases, ({ stays, wanted, units }) => {
      const rows = units.map((available, index) => ({
        id: index,
        available,
        start_date: day(index * 4),
        end_date: day(index * 4 + 2),
        updated_at: new Date(0),
        sequence: index,
      }))
      const active = stays.map(({ from, nights, sequence }) => ({
        checkin_at: day(from),
        checkout_at: day(from + nights),
        created_sequence: sequence,
      }))
      let expected: string | null = null
      for (let night = wanted.from; night < wanted.from + wanted.nights && expected === null; night += 1) {
        const row = rows.find(
          ({ start_date, end_date }) => start_date <= day(night) && day(night) <= end_date,
        )
        const taken = stays.filter(
          ({ from, nights, sequence }) =>
            row && from <= night && night < from + nights && sequence > row.sequence,
        ).length
        if (row && taken >= row.available) expected = day(night)
      }
      expect(
        firstFullNight({ from: day(wanted.from), to: day(wanted.from + wanted.nights - 1) }, rows, active),
      ).toBe(expected)
    }),
    runs(200),
  )
})

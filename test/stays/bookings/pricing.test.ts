import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays } from '../../../src/core/clock.ts'
import { decimalPlaces, toMajorUnits } from '../../../src/core/money.ts'
import { priceStay } from '../../../src/stays/bookings/pricing.ts'
import { runs } from '../../support/soak.ts'

const april = { checkinAt: '2027-04-01', nights: 30 }

test.each([
  {
    what: 'a whole month costs its price',
    stay: { checkinAt: '2027-04-01', nights: 30 },
    tariff: { base_price: 900 },
    price: 90_000,
  },
  {
    what: 'a night costs its part of the month',
    stay: { checkinAt: '2027-02-28', nights: 1 },
    tariff: { base_price: 280 },
    price: 1000,
  },
  {
    what: 'each night costs its part of its own month',
    stay: { checkinAt: '2027-01-31', nights: 2 },
    tariff: { base_price: 0, price_jan: 310, price_feb: 560 },
    price: 3000,
  },
  {
    what: 'an override of null falls back to the base price',
    stay: { checkinAt: '2027-01-01', nights: 31 },
    tariff: { base_price: 31, price_jan: null },
    price: 3100,
  },
  {
    what: 'an override of 0 is free',
    stay: { checkinAt: '2027-01-01', nights: 31 },
    tariff: { base_price: 31, price_jan: 0 },
    price: 0,
  },
  {
    what: 'February of a leap year has 29 days',
    stay: { checkinAt: '2028-02-01', nights: 29 },
    tariff: { base_price: 290 },
    price: 29_000,
  },
  {
    what: 'an amount between cents is rounded half up in decimal',
    stay: { checkinAt: '2027-02-01', nights: 28 },
    tariff: { base_price: 1.005 },
    price: 101,
  },
  {
    what: 'half a cent is rounded up',
    stay: { checkinAt: '2027-04-01', nights: 1 },
    tariff: { base_price: 0.15 },
    price: 1,
  },
  {
    what: 'a monthly price is a rate, which is not rounded itself',
    stay: { checkinAt: '2027-04-01', nights: 60 },
    tariff: { base_price: 0.005 },
    price: 1,
  },
  {
    what: 'without a base price a stay costs nothing',
    stay: { checkinAt: '2027-04-01', nights: 30 },
    tariff: {},
    price: 0,
  },
])('priceStay(): $what', ({ stay, tariff, price }) => {
  expect(priceStay(stay, tariff, [], 2).price).toBe(price)
})

test.each([
  ['JPY', 1, 100_001, 3226],
  ['JPY', 31, 100_001, 100_001],
  ['HUF', 1, 100_001, 322_584],
  ['EUR', 31, 1.005, 101],
  ['KWD', 31, 1.234, 1234],
  ['bhd', 31, 0.001, 1],
  ['CLF', 31, 1.00005, 10_001],
])(
  'priceStay() in %s: %i nights of January at %d a month cost %i minor units',
  (code, nights, base_price, price) => {
    const stay = { checkinAt: '2027-01-01', nights }
    expect(priceStay(stay, { base_price }, [], decimalPlaces(code)).price).toBe(price)
  },
)

test.each([
  [89, { discount_90: 10 }, 0],
  [90, { discount_90: 10 }, 10],
  [400, { discount_90: 10, discount_180: 20, discount_360: 30 }, 30],
  [359, { discount_90: 10, discount_180: 20, discount_360: 30 }, 20],
  [400, { discount_90: 10, discount_360: null }, 10],
  [400, { discount_90: 10, discount_180: 0 }, 10],
  [400, { discount_180: 10, discount_360: 0 }, 10],
  [400, { discount_90: 0, discount_180: 0, discount_360: 0 }, 0],
])('priceStay() of %i nights with %j takes %i percent off', (nights, discounts, percent) => {
  const tariff = { base_price: 1000, ...discounts }
  const { price, discount, total } = priceStay({ checkinAt: '2027-01-01', nights }, tariff, [], 2)
  expect(discount).toBe(Math.round((price * percent) / 100))
  expect(total).toBe(price - discount)
})

test.each([
  [{ mandatory: 1, frequency: 'once', type: 'fixed', sum: 75.5 }, 7550],
  [{ mandatory: 1, frequency: 'One-Time', type: 'Percentage', sum: 2.5 }, 2250],
  [{ mandatory: 1, frequency: 'ONE_OFF', type: null, sum: 10 }, 1000],
  [{ mandatory: 1, frequency: 'monthly', type: 'fixed', sum: 75 }, 0],
  [{ mandatory: 0, frequency: 'once', type: 'fixed', sum: 75 }, 0],
  [{ mandatory: null, frequency: null, type: null, sum: null }, 0],
])('priceStay() with the fee %j adds %i cents', (fee, cents) => {
  expect(priceStay(april, { base_price: 900 }, [fee], 2).total).toBe(90_000 + cents)
})

test('priceStay() rounds every fee on its own, half up', () => {
  const fixed = { mandatory: 1, frequency: 'once', type: 'fixed', sum: 0.005 }
  const percentage = { mandatory: 1, frequency: 'once', type: 'percent', sum: 0.5 }
  const { price, total } = priceStay(april, { base_price: 1 }, [fixed, fixed, percentage, percentage], 2)
  expect({ price, total }).toEqual({ price: 100, total: 100 + 1 + 1 + 1 + 1 })
})

test('the largest price of a stay with 500 fees is shown exactly, down to the fourth decimal', () => {
  const fee = { mandatory: 1, frequency: 'once', type: 'fixed', sum: 999_999_999.9999 }
  const stay = { checkinAt: '2027-01-01', nights: 1095 }
  const { total } = priceStay(stay, { base_price: 1e9 }, Array(500).fill(fee), 4)
  // 35 months, 30 of the 31 days of December, and the fees: 500 times a ten-thousandth less than a billion.
  expect(JSON.stringify(toMajorUnits(total, 4))).toBe('535967741935.4339')
})

/** An exact number, so that the expected prices do not depend on the arithmetic under test. */
interface Fraction {
  numerator: bigint
  denominator: bigint
}

/** A number with up to six decimal places, both as a partner sends it and as an exact fraction. */
function decimals(max: number): fc.Arbitrary<{ sent: number; exact: Fraction }> {
  const parts = fc.record({ units: fc.integer({ min: 0, max }), scale: fc.integer({ min: 0, max: 6 }) })
  return parts.map(({ units, scale }) => ({
    sent: Number(`${units}e-${scale}`),
    exact: { numerator: BigInt(units), denominator: 10n ** BigInt(scale) },
  }))
}

function roundHalfUp({ numerator, denominator }: Fraction): bigint {
  return (2n * numerator + denominator) / (2n * denominator)
}

function product(one: Fraction, other: Fraction): Fraction {
  return {
    numerator: one.numerator * other.numerator,
    denominator: one.denominator * other.denominator,
  }
}

test('priceStay() agrees with exact fractions for any prices, discount and fees, with 0, 2, 3 and 4 decimals', () => {
  const amounts = decimals(100_000_000)
  const cases = fc.record({
    places: fc.constantFrom(...['JPY', 'EUR', 'KWD', 'CLF'].map(decimalPlaces)),
    base: amounts,
    mar: fc.option(amounts),
    apr: fc.option(amounts),
    start: fc.integer({ min: 0, max: 700 }),
    nights: fc.integer({ min: 1, max: 200 }),
    percent: decimals(100).filter(({ sent }) => sent > 0),
    fees: fc.array(fc.record({ sum: amounts, type: fc.constantFrom('fixed', 'percent') }), { maxLength: 4 }),
  })
  fc.assert(
    fc.property(cases, ({ places, base, mar, apr, start, nights, percent, fees }) => {
      const checkinAt = addDays('2027-01-01', start)
      const overrides = new Map([
        [3, mar],
        [4, apr],
      ])
      // The product of all lengths of a month and of the scales of the three prices is a denominator that all nights
      // have in common.
      const scale = 10n ** 6n
      const denominator = 28n * 29n * 30n * 31n * scale
      let numerator = 0n
      for (let night = 0; night < nights; night += 1) {
        const [year, month] = addDays(checkinAt, night).split('-').map(Number) as [number, number]
        const { exact } = overrides.get(month) ?? base
        const days = BigInt(new Date(year, month, 0).getDate())
        numerator += (exact.numerator * denominator) / (exact.denominator * days)
      }
      const minorUnits = { numerator: 10n ** BigInt(places), denominator: 1n }
      const price = roundHalfUp(product({ numerator, denominator }, minorUnits))
      const partOfPrice = ({ exact }: typeof percent) =>
        roundHalfUp(product(exact, { numerator: price, denominator: 100n }))
      const discount = nights < 90 ? 0n : partOfPrice(percent)
      const charged = fees.map(({ type, sum }) =>
        type === 'percent' ? partOfPrice(sum) : roundHalfUp(product(sum.exact, minorUnits)),
      )
      const total = charged.reduce((sum, fee) => sum + fee, price - discount)

      const tariff = {
        base_price: base.sent,
        price_mar: mar?.sent ?? null,
        price_apr: apr?.sent ?? null,
        discount_90: percent.sent,
      }
      const sentFees = fees.map(({ type, sum }) => ({ mandatory: 1, frequency: 'once', type, sum: sum.sent }))
      expect(priceStay({ checkinAt, nights }, tariff, sentFees, places)).toEqual({
        price: Number(price),
        discount: Number(discount),
        total: Number(total),
      })
    }),
    runs(200),
  )
})

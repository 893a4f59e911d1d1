import { divide, percentOf, plus, times, toDecimal, toMinorUnits, zero } from '../../core/money.ts'
import { months } from '../../inventory/listings/fields.ts'

/** Basis of a stay's price: a room type's monthly prices in major units and its discounts in percent. */
export interface Tariff {
  base_price?: number | null
  [month: `price_${string}`]: number | null | undefined
  discount_90?: number | null
  discount_180?: number | null
  discount_360?: number | null
}

export interface Fee {
  mandatory?: number | null
  frequency?: string | null
  type?: string | null
  sum?: number | null
}

/** First night (`YYYY-MM-DD`) and number of nights. */
export interface PricedNights {
  checkinAt: string
  nights: number
}

/** A stay's price, in minor units of its currency. */
export interface StayPrice {
  price: number
  discount: number
  total: number
}

const oneOff = new Set(['once', 'one_time', 'one-time', 'one_off', 'one-off'])
const percentage = new Set(['percentage', 'percent'])
const discountLengths = [360, 180, 90] as const

/**
 * Prices a stay (decisions §6). Each night costs its month's price divided by the number of days in that month. The
 * discount for the longest length that the stay reaches is subtracted, and mandatory one-off fees are added. The nights,
 * the discount and each fee are rounded on their own, so that the amounts that a partner sees add up.
 *
 * @param places decimal places of the currency, to which amounts are rounded
 */
export function priceStay(stay: PricedNights, tariff: Tariff, fees: Fee[], places: number): StayPrice {
  const price = priceNights(stay, tariff, places)
  const discount = percentOf(price, discountPercent(stay.nights, tariff))
  const charged = fees.filter(isCharged).reduce((sum, fee) => sum + priceFee(fee, price, places), 0n)
  return { price: Number(price), discount: Number(discount), total: Number(price - discount + charged) }
}

/**
 * The least common multiple of 28, 29, 30 and 31, the possible lengths of a month in days. A night costs a fraction of
 * its month's price, so nights are summed as exact fractions over this denominator, and the sum is rounded once.
 */
const commonDays = 28 * 29 * 15 * 31

function priceNights({ checkinAt, nights }: PricedNights, tariff: Tariff, places: number): bigint {
  const [year = 0, firstMonth = 1, firstDay = 1] = checkinAt.split('-').map(Number)
  let sum = zero
  let left = nights
  for (let month = firstMonth; left > 0; month += 1) {
    const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
    const charged = Math.min(left, days - (month === firstMonth ? firstDay - 1 : 0))
    const monthPrice = tariff[`price_${months[(month - 1) % 12]}`] ?? tariff.base_price ?? 0
    sum = plus(sum, times(toDecimal(monthPrice), BigInt((charged * commonDays) / days)))
    left -= charged
  }
  return divide(sum, BigInt(commonDays), places)
}

/** Returns the discount for the longest length that is set and reached. A discount of 0 percent counts as not set. */
function discountPercent(nights: number, tariff: Tariff): number {
  const reached = discountLengths.filter((length) => nights >= length)
  return reached.map((length) => tariff[`discount_${length}`]).find(Boolean) ?? 0
}

function isCharged({ mandatory, frequency }: Fee): boolean {
  return mandatory === 1 && oneOff.has(frequency?.trim().toLowerCase() ?? '')
}

function priceFee({ type, sum }: Fee, price: bigint, places: number): bigint {
  if (percentage.has(type?.trim().toLowerCase() ?? '')) return percentOf(price, sum ?? 0)
  return toMinorUnits(sum, places)
}

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

/** A stay's price, in integer cents. */
export interface StayPrice {
  priceCents: number
  discountCents: number
  totalCents: number
}

const oneOff = new Set(['once', 'one_time', 'one-time', 'one_off', 'one-off'])
const percentage = new Set(['percentage', 'percent'])
const discountLengths = [360, 180, 90] as const

/** Converts an amount in major units to cents, rounding half up. */
export function toCents(amount: number | null | undefined): number {
  // Shifts the decimal point in the text, because 1.005 × 100 is less than 100.5 in binary floating point.
  const shifted = Number(`${amount ?? 0}e2`)
  return Math.round(Number.isNaN(shifted) ? (amount ?? 0) * 100 : shifted)
}

/**
 * Prices a stay (decisions §6). Each night costs its month's price divided by the number of days in that month. The
 * discount for the longest length that the stay reaches is subtracted, and mandatory one-off fees are added.
 */
export function priceStay(checkinAt: string, nights: number, tariff: Tariff, fees: Fee[]): StayPrice {
  const priceCents = nightsCents(checkinAt, nights, tariff)
  const percent = discountPercent(nights, tariff)
  const discountCents = partOf(priceCents, percent)
  const feesCents = fees.filter(isCharged).reduce((sum, fee) => sum + feeCents(fee, priceCents), 0)
  return { priceCents, discountCents, totalCents: priceCents - discountCents + feesCents }
}

/**
 * The least common multiple of 28, 29, 30 and 31, the possible lengths of a month in days. A night costs a fraction of
 * its month's price, so nights are summed as exact fractions over this denominator, and the sum is rounded once.
 */
const commonDays = 28 * 29 * 15 * 31

function nightsCents(checkinAt: string, nights: number, tariff: Tariff): number {
  const [year = 0, firstMonth = 1, firstDay = 1] = checkinAt.split('-').map(Number)
  let total = 0n
  let left = nights
  for (let month = firstMonth; left > 0; month += 1) {
    const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
    const charged = Math.min(left, days - (month === firstMonth ? firstDay - 1 : 0))
    const monthCents = toCents(tariff[`price_${months[(month - 1) % 12]}`] ?? tariff.base_price)
    total += BigInt(monthCents) * BigInt((charged * commonDays) / days)
    left -= charged
  }
  return Number((total * 2n + BigInt(commonDays)) / BigInt(commonDays * 2))
}

function discountPercent(nights: number, tariff: Tariff): number {
  const reached = discountLengths.find(
    (length) => nights >= length && (tariff[`discount_${length}`] ?? null) !== null,
  )
  return reached ? (tariff[`discount_${reached}`] ?? 0) : 0
}

/** Returns a percentage of an amount in cents, rounded half up. The percentage may have up to six decimal places. */
function partOf(cents: number, percent: number): number {
  const whole = 100_000_000n
  return Number((BigInt(cents) * BigInt(Math.round(percent * 1e6)) * 2n + whole) / (whole * 2n))
}

function isCharged({ mandatory, frequency }: Fee): boolean {
  return mandatory === 1 && oneOff.has(frequency?.trim().toLowerCase() ?? '')
}

function feeCents({ type, sum }: Fee, priceCents: number): number {
  return percentage.has(type?.trim().toLowerCase() ?? '') ? partOf(priceCents, sum ?? 0) : toCents(sum)
}

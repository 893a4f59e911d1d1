import { addDays } from '../../core/clock.ts'
import { months } from '../../inventory/listings/fields.ts'

/** The basis of a stay's price: a room type's monthly prices in major units, and its discounts in percent. */
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

/** The price of a stay in integer cents. */
export interface StayPrice {
  priceCents: number
  discountCents: number
  totalCents: number
}

const oneOff = new Set(['once', 'one_time', 'one-time', 'one_off', 'one-off'])
const percentage = new Set(['percentage', 'percent'])
const discountLengths = [360, 180, 90] as const

/** An amount in major units as cents, rounded half-up. */
export function toCents(amount: number | null | undefined): number {
  // Shifted as decimal digits: 1.005 × 100 is less than 100.5 in binary.
  const shifted = Number(`${amount ?? 0}e2`)
  return Math.round(Number.isNaN(shifted) ? (amount ?? 0) * 100 : shifted)
}

/**
 * Prices a stay (decisions §6): each night costs its month's price divided by the days of that month; minus the
 * discount for the longest stay that the nights reach; plus the fees that are mandatory and one-off.
 */
export function priceStay(checkinAt: string, nights: number, tariff: Tariff, fees: Fee[]): StayPrice {
  const priceCents = nightsCents(checkinAt, nights, tariff)
  const percent = discountPercent(nights, tariff)
  const discountCents = partOf(priceCents, percent)
  const feesCents = fees.filter(isCharged).reduce((sum, fee) => sum + feeCents(fee, priceCents), 0)
  return { priceCents, discountCents, totalCents: priceCents - discountCents + feesCents }
}

/**
 * A night costs a fraction of its month's price, so nights are summed as exact fractions over the least common multiple
 * of 28, 29, 30 and 31 days, and rounded once.
 */
const commonDays = 28 * 29 * 15 * 31

function nightsCents(checkinAt: string, nights: number, tariff: Tariff): number {
  let total = 0n
  for (let night = 0; night < nights; night += 1) {
    const [year = 0, month = 1] = addDays(checkinAt, night).split('-').map(Number)
    const monthCents = toCents(tariff[`price_${months[month - 1]}`] ?? tariff.base_price)
    const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
    total += BigInt(monthCents) * BigInt(commonDays / days)
  }
  return Number((total * 2n + BigInt(commonDays)) / BigInt(commonDays * 2))
}

function discountPercent(nights: number, tariff: Tariff): number {
  const reached = discountLengths.find(
    (length) => nights >= length && (tariff[`discount_${length}`] ?? null) !== null,
  )
  return reached ? (tariff[`discount_${reached}`] ?? 0) : 0
}

/** A percentage of an amount, rounded half-up to cents; the percentage may have six decimals. */
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

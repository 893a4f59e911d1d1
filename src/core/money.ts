import currencyCodes from 'currency-codes'

/**
 * Exact amounts of money, in the minor units of their currency (decisions §6). Without it, a night in yen would cost
 * 3225.84, 0.001 Bahraini dinars would be nothing, and 1.005 euros, which binary fractions store as a little less, would
 * be rounded down. Nothing else converts between major and minor units.
 */

/**
 * What the package's list, of 25 June 2024, lacks or may lose, with each code's decimal places. A code that was accepted
 * stays accepted after ISO 4217 has withdrawn it, because listings and bookings have it.
 */
const supplement = [
  // Added by ISO 4217: the Caribbean guilder on 31 March 2025, the Arab accounting dinar on 12 May 2025.
  ['XCG', 2],
  ['XAD', 2],
  // Withdrawn by ISO 4217: in June 2021, on 1 July 2025 and on 1 January 2026.
  ['CUC', 2],
  ['ANG', 2],
  ['BGN', 2],
] as const

/**
 * The decimal places of each currency, from this list alone: `Intl` has no decimals for HUF, IDR, COP and others in one
 * runtime, and two in another.
 */
const placesByCode = new Map<string, number>(currencyCodes.data.map(({ code, digits }) => [code, digits]))
for (const [code, digits] of supplement) placesByCode.set(code, digits)

/** All codes that a currency may have, in upper case (decisions §6). */
export const currencies: readonly string[] = [...placesByCode.keys()]

/** Returns true for the code of a currency, in any case. */
export function isCurrencyCode(code: string): boolean {
  // Some letters beyond ASCII have an upper case within it, such as `ı`.
  return /^[a-z]{3}$/i.test(code) && placesByCode.has(code.toUpperCase())
}

/**
 * Returns how many decimal places amounts in a currency have (ISO 4217, decisions §6): 2 for EUR, 0 for JPY, 3 for KWD. A code to
 * which ISO 4217 assigns no minor unit, such as gold's, has 0. A code that has left ISO 4217 since a listing stored it
 * has 2, as most currencies do.
 */
export function decimalPlaces(currency: string): number {
  return placesByCode.get(currency.toUpperCase()) ?? 2
}

/** An exact number: `units` divided by 10 to the power of `scale`. */
export interface Decimal {
  units: bigint
  scale: number
}

export const zero: Decimal = { units: 0n, scale: 0 }

/** Reads a number below 10^21 as the decimal that was sent, such as 1.005, not as the binary fraction that stores it. */
export function toDecimal(value: number): Decimal {
  const [coefficient = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = coefficient.split('.')
  return { units: BigInt(whole + fraction), scale: fraction.length - Number(exponent) }
}

export function plus(one: Decimal, other: Decimal): Decimal {
  const scale = Math.max(one.scale, other.scale)
  return { units: unitsAt(scale, one) + unitsAt(scale, other), scale }
}

export function times({ units, scale }: Decimal, factor: bigint): Decimal {
  return { units: units * factor, scale }
}

/** Returns a quotient in units of the given decimal place, rounded half up. */
export function divide(dividend: Decimal, divisor: bigint, places: number): bigint {
  const numerator = dividend.units * powerOfTen(places)
  const denominator = divisor * powerOfTen(dividend.scale)
  return (2n * numerator + denominator) / (2n * denominator)
}

/** Converts an amount in major units to minor units, rounded half up. */
export function toMinorUnits(amount: number | null | undefined, places: number): bigint {
  return divide(toDecimal(amount ?? 0), 1n, places)
}

/** Returns a percentage of an amount in minor units, rounded half up. */
export function percentOf(minorUnits: bigint, percent: number): bigint {
  return divide(times(toDecimal(percent), minorUnits), 100n, 0)
}

/** Converts minor units to major units, in which the contract expresses all amounts. */
export function toMajorUnits(minorUnits: number, places: number): number {
  return minorUnits / 10 ** places
}

function unitsAt(scale: number, { units, scale: own }: Decimal): bigint {
  return units * powerOfTen(scale - own)
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent)
}

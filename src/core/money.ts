import currencyCodes from 'currency-codes'

/**
 * Exact amounts of money, in the minor units of their currency (decisions §6). Without it, a night in yen would cost
 * 3225.84, 0.001 Bahraini dinars would be nothing, and 1.005 euros, which binary fractions store as a little less, would
 * be rounded down. Nothing else converts between major and minor units.
 */

const placesByCode = new Map(currencyCodes.data.map(({ code, digits }) => [code, digits]))

/** All ISO 4217 codes, in upper case. */
export const currencies: readonly string[] = [...placesByCode.keys()]

/** Returns true for an ISO 4217 code in upper or lower case. */
export const isCurrencyCode = (code: string) => placesByCode.has(code.toUpperCase())

/**
 * Returns how many decimal places amounts in a currency have (ISO 4217): 2 for EUR, 0 for JPY, 3 for KWD. A code to
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

import { expect, test } from 'vitest'
import { currencies, decimalPlaces, isCurrencyCode } from '../../src/core/money.ts'

test.each([
  ['XCG', 2],
  ['XAD', 2],
  ['ZWG', 2],
  ['SLE', 2],
  ['VED', 2],
  ['HUF', 2],
  ['IDR', 2],
  ['COP', 2],
  ['IQD', 3],
  ['UYW', 4],
  ['JPY', 0],
  ['XAU', 0],
])('%s is a currency with %i decimal places', (code, places) => {
  expect({ isCode: isCurrencyCode(code), places: decimalPlaces(code) }).toEqual({ isCode: true, places })
})

test.each(['ANG', 'BGN', 'CUC'])('%s stays accepted, although ISO 4217 has withdrawn it', (code) => {
  expect({ isCode: isCurrencyCode(code), places: decimalPlaces(code) }).toEqual({ isCode: true, places: 2 })
})

test.each(['HRK', 'ıqd', 'uſd', 'EURO', 'EU', '', '€'])('%j is not a currency', (code) => {
  expect(isCurrencyCode(code)).toBe(false)
})

test('each code is listed once, in upper case, and is accepted in lower case too', () => {
  expect(new Set(currencies).size).toBe(currencies.length)
  expect(
    currencies.filter((code) => !/^[A-Z]{3}$/.test(code) || !isCurrencyCode(code.toLowerCase())),
  ).toEqual([])
})

import type { TSchema } from '@sinclair/typebox'
import fc, { type Arbitrary } from 'fast-check'

const texts: Record<string, Arbitrary<string>> = {
  date: fc
    .date({ min: new Date('1950-01-01'), max: new Date('2090-12-31'), noInvalidDate: true })
    .map((day) => day.toISOString().slice(0, 10)),
  uri: fc.webUrl({ withQueryParameters: true }),
  'calendar-address': fc
    .webUrl({ validSchemes: ['https'], withQueryParameters: true })
    .map((url) => url.replace(/^https/, url.length % 2 === 0 ? 'https' : 'webcal')),
  email: fc
    .tuple(fc.stringMatching(/^[a-z0-9]{1,20}$/), fc.stringMatching(/^[a-z]{1,10}\.[a-z]{2,4}$/))
    .map((parts) => parts.join('@')),
  language: fc.constantFrom('en', 'es', 'pt-BR', 'zh_Hant'),
  timezone: fc.constantFrom('UTC', 'Europe/Madrid', 'America/Argentina/Buenos_Aires'),
  currency: fc.constantFrom('eur', 'USD', 'jpy'),
  'time-of-day': fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`),
  version: fc
    .date({ min: new Date('2000-01-01'), max: new Date('2090-12-31'), noInvalidDate: true })
    .map((moment) => moment.toISOString().slice(0, 19).replace('T', ' ')),
  id: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }).map(String),
}

/** Generates values that a request schema accepts, derived from the schema independently of the code under test. */
export function valuesOf(schema: TSchema): Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.anyOf) return fc.oneof(...(schema.anyOf as TSchema[]).map(valuesOf))
  switch (schema.type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1000, max: schema.maximum ?? 1000 })
    case 'number':
      return fc
        .double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true })
        .map((value) => value + 0)
    case 'array':
      return schema.uniqueItems
        ? fc.uniqueArray(valuesOf(schema.items), { minLength: schema.minItems ?? 0, maxLength: 3 })
        : fc.array(valuesOf(schema.items), { minLength: schema.minItems ?? 0, maxLength: 3 })
    case 'object':
      return objectsOf(schema)
    default:
      return stringsOf(schema)
  }
}

function objectsOf(schema: TSchema): Arbitrary<Record<string, unknown>> {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema>)
  const values = Object.fromEntries(properties.map(([name, property]) => [name, valuesOf(property)]))
  return fc.record(values, { requiredKeys: schema.required ?? [] })
}

function stringsOf(schema: TSchema): Arbitrary<string> {
  const known = texts[schema.format ?? '']
  if (known) return known.filter((text) => text.length <= (schema.maxLength ?? Number.POSITIVE_INFINITY))
  const text = fc.string({
    unit: 'binary',
    minLength: schema.minLength ?? 0,
    maxLength: Math.min(schema.maxLength ?? 40, 40) / 2,
  })
  return text.filter(
    (value) =>
      value.isWellFormed() &&
      !value.includes('\0') &&
      value.trim() !== '' &&
      value.length >= (schema.minLength ?? 0),
  )
}

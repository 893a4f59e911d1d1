import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { named, responseObject } from './fields.ts'

/**
 * Three uses of one request schema: `normalize` converts sent values, `complete` fills in stored values, and
 * `responseSchema` derives the schema of a response with every field.
 */

/** `T` with every field present, as in a response. */
export type Complete<T> = T extends (infer Item)[]
  ? Complete<Item>[]
  : T extends object
    ? { [Key in keyof T]-?: Complete<Exclude<T[Key], undefined>> }
    : T

const isNullable = (schema: TSchema) => (schema.anyOf as TSchema[] | undefined)?.some(isNull) ?? false
const isNull = (schema: TSchema) => schema.type === 'null'
const nonNull = (schema: TSchema): TSchema =>
  isNullable(schema) ? ((schema.anyOf as TSchema[]).find((variant) => !isNull(variant)) ?? schema) : schema
const propertiesOf = (schema: TSchema) => Object.entries((schema.properties ?? {}) as Record<string, TSchema>)

/** Returns a validated value with blank optional strings as null and digit-string ids as numbers. */
export function normalize<S extends TSchema>(schema: S, value: unknown): Static<S> {
  return normalizeValue(schema, value) as Static<S>
}

function normalizeValue(schema: TSchema, value: unknown): unknown {
  if (isNullable(schema) && typeof value === 'string' && value.trim() === '') return null
  if (value === null || value === undefined) return value
  const type = nonNull(schema)
  if (type.trims) return (value as string).trim()
  if (type.readAs === 'id') return Number(value)
  if (type.type === 'array') return (value as unknown[]).map((item) => normalizeValue(type.items, item))
  if (type.type !== 'object') return value
  const sent = value as Record<string, unknown>
  return Object.fromEntries(
    propertiesOf(type).flatMap(([key, property]) =>
      sent[key] === undefined ? [] : [[key, normalizeValue(property, sent[key])]],
    ),
  )
}

/** Returns a stored value with every field of the schema: scalars that were never sent are null, arrays are empty. */
export function complete<S extends TSchema>(schema: S, value: unknown): Complete<Static<S>> {
  return completeValue(schema, value) as Complete<Static<S>>
}

function completeValue(schema: TSchema, value: unknown): unknown {
  const type = nonNull(schema)
  if (type.type === 'array')
    return ((value ?? []) as unknown[]).map((item) => completeValue(type.items, item))
  if (type.type !== 'object') return value ?? null
  const stored = (value ?? {}) as Record<string, unknown>
  return Object.fromEntries(
    propertiesOf(type).map(([key, property]) => [key, completeValue(property, stored[key])]),
  )
}

/** Returns a response's schema: all fields present, scalars plain and nullable (bounds apply to requests only). */
export function responseSchema<S extends TSchema>(schema: S) {
  return Type.Unsafe<Complete<Static<S>>>(responseType(schema))
}

function responseType(schema: TSchema): TSchema {
  const type = nonNull(schema)
  const { description } = { ...type, ...schema }
  const about = description === undefined ? {} : { description }
  if (type.readAs === 'id' || type.respondsAs === 'id')
    return Type.Integer({
      ...about,
      ...(type.respondsAs ? { description: 'Id assigned by this service' } : {}),
      form: 'id',
    })
  if (type.type === 'array') return Type.Array(responseType(type.items), about)
  if (type.type === 'object') return objectOf(type, about)
  return Type.Union([scalarType(type), Type.Null()], about)
}

function scalarType({ type, format }: TSchema): TSchema {
  if (type === 'integer') return Type.Integer()
  if (type === 'number') return Type.Number()
  return Type.String(format === 'date' || format === 'uri' ? { form: format } : {})
}

function objectOf(schema: TSchema, about: object): TObject {
  const properties = propertiesOf(schema).map(([key, property]) => [key, responseType(property)] as const)
  const made = Object.assign(responseObject(Object.fromEntries(properties)), about)
  // Request and response types differ, and so do their names.
  return schema.title ? named(schema.title.replace(/Write$/, ''), made) : made
}

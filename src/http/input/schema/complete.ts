import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { responseObject, withTitle } from './fields.ts'
import { nonNull, propertiesOf } from './normalize.ts'

/**
 * Two further uses of a request schema: `complete` fills in a stored value's missing fields, and `responseSchema`
 * derives the schema of a response that contains every field.
 */

/** `T` with every field present, as in a response. */
export type Complete<T> = T extends (infer Item)[]
  ? Complete<Item>[]
  : T extends object
    ? { [Key in keyof T]-?: Complete<Exclude<T[Key], undefined>> }
    : T

/** Returns a stored value with every field of the schema. Missing scalars become null; missing arrays become empty. */
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

/**
 * Derives a response schema from a request schema: every field is required, scalars lose their bounds, and all scalars
 * except ids become nullable.
 */
export function responseSchema<S extends TSchema>(schema: S) {
  return Type.Unsafe<Complete<Static<S>>>(responseType(schema))
}

function responseType(schema: TSchema): TSchema {
  const type = nonNull(schema)
  const description = schema.description ?? type.description
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
  // Request and response types differ, so they must not share a name.
  return schema.title ? withTitle(schema.title.replace(/Write$/, ''), made) : made
}

import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import { responseObject } from './fields.ts'

/**
 * Three readings of one request schema: what was sent, made plain (`normalize`); the same with nothing left
 * out (`whole`); and the schema of an answer that has it whole (`answerOf`).
 */

/** `T` as an answer has it: every field present. */
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

/** A validated value with blank optional strings as null and digit-string ids as numbers. */
export function normalize<S extends TSchema>(schema: S, value: unknown): Static<S> {
  return plain(schema, value) as Static<S>
}

function plain(schema: TSchema, value: unknown): unknown {
  if (isNullable(schema) && typeof value === 'string' && value.trim() === '') return null
  if (value === null || value === undefined) return value
  const type = nonNull(schema)
  if (type.trims) return (value as string).trim()
  if (type.readAs === 'id') return Number(value)
  if (type.type === 'array') return (value as unknown[]).map((item) => plain(type.items, item))
  if (type.type !== 'object') return value
  const sent = value as Record<string, unknown>
  return Object.fromEntries(
    propertiesOf(type).flatMap(([key, property]) =>
      sent[key] === undefined ? [] : [[key, plain(property, sent[key])]],
    ),
  )
}

/** A stored value with every field of the schema: scalars never sent are null, arrays empty. */
export function complete<S extends TSchema>(schema: S, value: unknown): Complete<Static<S>> {
  return filled(schema, value) as Complete<Static<S>>
}

function filled(schema: TSchema, value: unknown): unknown {
  const type = nonNull(schema)
  if (type.type === 'array') return ((value ?? []) as unknown[]).map((item) => filled(type.items, item))
  if (type.type !== 'object') return value ?? null
  const stored = (value ?? {}) as Record<string, unknown>
  return Object.fromEntries(propertiesOf(type).map(([key, property]) => [key, filled(property, stored[key])]))
}

/** The schema of an answer: all fields present, scalars plain and nullable (a bound is for the way in). */
export function responseSchema<S extends TSchema>(schema: S) {
  return Type.Unsafe<Complete<Static<S>>>(answer(schema))
}

function answer(schema: TSchema): TSchema {
  const type = nonNull(schema)
  if (type.readAs === 'id' || type.answerAs === 'id') return Type.Integer()
  if (type.type === 'array') return Type.Array(answer(type.items))
  if (type.type === 'object') return objectOf(propertiesOf(type))
  const scalar =
    type.type === 'integer' ? Type.Integer() : type.type === 'number' ? Type.Number() : Type.String()
  return Type.Union([scalar, Type.Null()])
}

function objectOf(properties: [string, TSchema][]): TObject {
  return responseObject(Object.fromEntries(properties.map(([key, property]) => [key, answer(property)])))
}

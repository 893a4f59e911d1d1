import { Schema, type SchemaDefinition } from 'mongoose'

declare const stored: unique symbol

/** A document field's schema type, checks and value type. */
export interface Field<T> {
  type: unknown
  required?: true
  default?: unknown
  [stored]?: T
}

const required = <T>(type: unknown) => ({ type, required: true }) as Field<T>
const nullable = <T>(type: unknown) => ({ type, default: null }) as Field<T | null>

const list = <T>(elementType: unknown) => ({ type: [elementType], default: [] }) as Field<T[]>
const partOf = (fields: object) => new Schema(fields as SchemaDefinition, { _id: false, minimize: false })

/** The kinds of fields that a document can have. */
export const field = {
  number: required<number>(Number),
  numberOrNull: nullable<number>(Number),
  text: required<string>(String),
  textOrNull: nullable<string>(String),
  flag: required<boolean>(Boolean),
  bytes: required<Buffer>(Buffer),
  moment: required<Date>(Date),
  momentOrNull: nullable<Date>(Date),
  /** A text from a fixed set of values. */
  literal: <T extends string>() => required<T>(String),
  literalOrNull: <T extends string>() => nullable<T>(String),
  /** A number from a fixed set of values. */
  code: <T extends number>() => required<T>(Number),
  /** A value of any type. The schema does not check it. */
  mixed: <T>() => required<T>(Schema.Types.Mixed),
  mixedOrNull: <T>() => nullable<T>(Schema.Types.Mixed),
  /** A value of any type, absent until it is first stored. */
  mixedIfAny: <T>() => ({ type: Schema.Types.Mixed }) as Field<T | undefined>,
  /** A list, which may be empty. */
  list,
  /** A list of objects with these fields. */
  listOf: <F extends object>(fields: F) => list<Stored<F>>(partOf(fields)),
  /** An object with these fields, or null. */
  objectOrNull: <F extends object>(fields: F) => nullable<Stored<F>>(partOf(fields)),
}

/** The type of a document with these fields. */
export type Stored<F> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** Returns a schema for documents with these fields. `Document` can add an `_id` that the database generates. */
export function schemaOf<F extends object, Document = Stored<F>>(fields: F): Schema<Document> {
  return new Schema(fields as SchemaDefinition) as Schema<Document>
}

import { Schema } from 'mongoose'

declare const stored: unique symbol

/** A field of a collection: how the database checks it, and the type of what it holds. */
export interface Field<T> {
  type: unknown
  required?: true
  default?: unknown
  [stored]?: T
}

const required = <T>(type: unknown) => ({ type, required: true }) as Field<T>
const nullable = <T>(type: unknown) => ({ type, default: null }) as Field<T | null>

export const number = required<number>(Number)
export const numberOrNull = nullable<number>(Number)
export const text = required<string>(String)
export const textOrNull = nullable<string>(String)
export const flag = required<boolean>(Boolean)
export const moment = required<Date>(Date)
export const momentOrNull = nullable<Date>(Date)

/** A text of which only some are stored. */
export const word = <T extends string>() => required<T>(String)
export const wordOrNull = <T extends string>() => nullable<T>(String)
/** A number of which only some are stored. */
export const code = <T extends number>() => required<T>(Number)
/** Any value; the database does not look into it. */
export const mixed = <T>() => required<T>(Schema.Types.Mixed)
export const mixedOrNull = <T>() => nullable<T>(Schema.Types.Mixed)
/** A list, which may be empty. */
export const list = <T>(of: unknown) => ({ type: [of], default: [] }) as Field<T[]>

/** The type of a document with such fields. */
export type Stored<F> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

const partOf = (fields: object) => new Schema(fields as never, { _id: false, minimize: false })
/** A list of objects with such fields. */
export const listOf = <F extends object>(fields: F) => list<Stored<F>>(partOf(fields))
/** An object with such fields, or null. */
export const objectOrNull = <F extends object>(fields: F) => nullable<Stored<F>>(partOf(fields))

/** The schema of documents with such fields; `Document` also names an `_id` that the database makes. */
export function schemaOf<F extends object, Document = Stored<F>>(fields: F): Schema<Document> {
  return new Schema(fields as never) as Schema<Document>
}

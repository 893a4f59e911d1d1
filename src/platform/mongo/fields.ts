import { Schema } from 'mongoose'

declare const stored: unique symbol

/** A collection's field: its schema type, its checks and the type of its value. */
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

/** A text from a fixed set of values. */
export const word = <T extends string>() => required<T>(String)
export const wordOrNull = <T extends string>() => nullable<T>(String)
/** A number from a fixed set of values. */
export const code = <T extends number>() => required<T>(Number)
/** A value of any type, which the schema does not inspect. */
export const mixed = <T>() => required<T>(Schema.Types.Mixed)
export const mixedOrNull = <T>() => nullable<T>(Schema.Types.Mixed)
/** A list, which may be empty. */
export const list = <T>(of: unknown) => ({ type: [of], default: [] }) as Field<T[]>

/** The type of a document with these fields. */
export type Stored<F> = { -readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

const partOf = (fields: object) => new Schema(fields as never, { _id: false, minimize: false })
/** A list of objects with these fields. */
export const listOf = <F extends object>(fields: F) => list<Stored<F>>(partOf(fields))
/** An object with these fields, or null. */
export const objectOrNull = <F extends object>(fields: F) => nullable<Stored<F>>(partOf(fields))

/** Returns the schema of documents with these fields. `Document` can add an `_id` that the database generates. */
export function schemaOf<F extends object, Document = Stored<F>>(fields: F): Schema<Document> {
  return new Schema(fields as never) as Schema<Document>
}

import {
  type SchemaOptions,
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'
import type { Problem } from '../../../core/errors.ts'
import { type TextOptions, text } from './text.ts'

/**
 * Field types for all requests and responses (decisions §1).
 *
 * A blank optional string is stored as null; a required string must contain more than white space.
 */
export { text }

/** A string that must contain more than white space. */
export const requiredText = (maxLength = 255, options: TextOptions = {}) =>
  text(maxLength, { whenBlank: 'required', ...options })

/** A word from an enumeration whose values the contract does not list. */
export const word = () => text(64)

/** A calendar date `YYYY-MM-DD`. */
export const date = (options: TextOptions = {}) => text(255, { format: 'date', ...options })

/** A required calendar date. */
export const requiredDate = (description: string) => date({ whenBlank: 'required', description })

/** An http or https address, which is stored but never fetched. */
export const webAddress = () => text(2048, { format: 'uri' })

/** One of the given words. */
export const oneOf = <T extends string>(words: readonly T[], description: string) =>
  Type.Unsafe<T>(
    Type.Union(
      words.map((word) => Type.Literal(word)),
      { description },
    ),
  )

/** Checks combinations of fields and returns the problems. `isValidAt(path)` is true if that field alone is valid. */
export type Refinement<T> = (value: T, isValidAt: (path: string) => boolean) => Problem[]

/** The schema of a request's body or query. */
export type RequestSchema = TObject & { refine?: Refinement<unknown> }

/** Returns the schema of a request's body or query. Fields that the schema does not name are ignored. */
export function requestObject<T extends TProperties>(
  properties: T,
  refine?: Refinement<Static<ReturnType<typeof Type.Object<T>>>>,
) {
  const schema = Type.Object(properties, { additionalProperties: true })
  return Object.defineProperty(schema, 'refine', { value: refine })
}

const about = (description?: string) => (description ? { description } : {})

/** An object in a response. A field that the schema does not name is a bug in the service and is never sent. */
export const responseObject = <T extends TProperties>(properties: T, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...about(description) })

/** Accepts null in addition to the given type. */
export const nullable = <T extends TSchema>(schema: T, options: SchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options)

/** An optional field of a request, which may also be sent as null. */
export const optional = <T extends TSchema>(schema: T, description?: string) =>
  Type.Optional(nullable(schema, about(description)))

/** Adds the description that the documentation shows for a schema: its meaning, its unit, and what null means. */
export const withDescription = <T extends TSchema>(description: string, schema: T): T => ({
  ...schema,
  description,
})

/** Sets the name that the OpenAPI document and generated clients use for an object. */
export const withTitle = <T extends TSchema>(title: string, schema: T): T =>
  Object.defineProperty(schema, 'title', { value: title, enumerable: true })

/**
 * An id in a body: a positive integer below 2^53, or its digits as a string, which `normalizeSent` converts to a
 * number.
 */
export const idInBody = (description: string) => id({ whenBlank: 'required' }, description)

/** An optional id in a body. Like any optional string, it may be blank instead of null. */
export const optionalIdInBody = (description: string) => optional(id({}), description)

const id = (options: TextOptions, description?: string) =>
  Type.Unsafe<number>(
    Type.Union(
      [
        Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
        text(16, { format: 'id', ...options }),
      ],
      { readAs: 'id', ...about(description) },
    ),
  )

/** An optional id in a query. */
export const idInQuery = (description: string, example: string) =>
  Type.Optional(queryId('invalid', description, example))

/** A required id in a query. */
export const requiredIdInQuery = (description: string, example: string) =>
  queryId('required', description, example)

/** An id in a query: its digits, which handlers get as a number. */
const queryId = (whenBlank: 'invalid' | 'required', description: string, example: string) =>
  Type.Unsafe<number>(text(16, { format: 'id', whenBlank, description, example }))

/** An optional date in a query. Unlike a missing value, a blank value is invalid. */
export const dateInQuery = (description: string, example: string) =>
  Type.Optional(date({ whenBlank: 'invalid', description, example }))

/** Problem code for a number that is too small; `min` by default. */
export interface NumberCodes {
  belowMinimum?: 'invalid'
}

/** An amount of money in major units. */
export const money = (options: NumberCodes = {}) =>
  Type.Number({ minimum: 0, maximum: 1_000_000_000, ...options })

/** A non-negative integer. */
export const count = (maximum = 2_147_483_647) => Type.Integer({ minimum: 0, maximum })

/**
 * Constraints that the OpenAPI document states for response fields in addition to their types. They are documented but
 * not checked, because checks would slow down every response, and the service itself produces the values.
 */
export const responseForms = {
  id: { minimum: 1 },
  count: { minimum: 0 },
  flag: { enum: [0, 1] },
  date: { format: 'date' },
  timestamp: { format: 'date-time' },
  version: { pattern: String.raw`^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$` },
  email: { format: 'email' },
  uri: { format: 'uri' },
  currency: { minLength: 3, maxLength: 3 },
  country: { minLength: 2, maxLength: 2 },
} as const
export type ResponseForm = keyof typeof responseForms

const inForm = (form?: ResponseForm) => (form ? { form } : {})

/** Functions that return schemas of response fields. The documentation shows each field's `description`. */
export const output = {
  text: (description: string, form?: ResponseForm) => Type.String({ description, ...inForm(form) }),
  textOrNull: (description: string, form?: ResponseForm) =>
    nullable(Type.String(inForm(form)), { description }),
  literal: <T extends string>(description: string, ...words: readonly T[]) =>
    Type.Unsafe<T>(Type.String({ description, words })),
  integer: (description: string, form?: ResponseForm) => Type.Integer({ description, ...inForm(form) }),
  integerOrNull: (description: string, form?: ResponseForm) =>
    nullable(Type.Integer(inForm(form)), { description }),
  number: (description: string) => Type.Number({ description }),
  flag: (description: string) => Type.Integer({ description, form: 'flag' }),
  boolean: (description: string) => Type.Boolean({ description }),
  date: (description: string) => Type.String({ description, form: 'date' }),
  timestamp: (description: string) => Type.String({ description, form: 'timestamp' }),
  timestampOrNull: (description: string) => nullable(Type.String({ form: 'timestamp' }), { description }),
  list: <T extends TSchema>(description: string, items: T) => Type.Array(items, { description }),
}

/** Maximum number of items in a bulk write. */
export const maxBulkItems = 1000

/** Body of a bulk write: 1 to 1,000 items in `data` (decisions §8). */
export const bulkOf = <T extends TSchema>(item: T, refine?: Refinement<{ data: Static<T>[] }>) =>
  requestObject(
    {
      data: Type.Array(item, {
        minItems: 1,
        maxItems: maxBulkItems,
        description: 'Items to write, all or nothing; if items conflict, the later one wins',
      }),
    },
    refine,
  )

import { type SchemaOptions, type Static, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { invalidFields, type Problem } from '../errors.ts'
import { isIdText } from './formats.ts'
import { findProblems } from './problems.ts'
import { type TextOptions, text } from './text.ts'

/**
 * The field types of every request and response (decisions §1).
 *
 * A blank optional string is stored as null; a required string must contain more than white space.
 */
export { text }

/** A string that must contain more than white space. */
export const requiredText = (maxLength = 255, options: TextOptions = {}) =>
  text(maxLength, { whenBlank: 'required', ...options })

/** An enumerated word whose values the contract does not show. */
export const word = () => text(64)

/** A calendar date `YYYY-MM-DD`. */
export const date = (options: TextOptions = {}) => text(255, { format: 'date', ...options })

/** A calendar date that must be sent. */
export const requiredDate = () => date({ whenBlank: 'required' })

/** An http or https address; stored, never fetched. */
export const webAddress = () => text(2048, { format: 'uri' })

/** Checks combinations of fields that are valid by themselves; returns the problems. */
export type Refinement<T> = (value: T, isValidAt: (path: string) => boolean) => Problem[]

/**
 * The body or query of a request: fields that the schema does not name are ignored. Elysia lets the schema itself
 * validate (Standard Schema), so that errors are ours: every path once, at most 100 of them, and nothing of the value
 * in them.
 */
export function requestObject<T extends TProperties>(
  properties: T,
  refine?: Refinement<Static<ReturnType<typeof Type.Object<T>>>>,
) {
  const schema = Type.Object(properties, { additionalProperties: true })
  const validate = (value: unknown) => {
    const problems = findProblems(schema, value, refine as Refinement<unknown> | undefined)
    if (problems.length > 0) throw invalidFields(problems)
    return { value }
  }
  return Object.defineProperty(schema, '~standard', { value: { version: 1, vendor: 'partner', validate } })
}

/** An object of a response: a field that the schema does not name is our mistake and is never sent. */
export const responseObject = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })

/** Accepts null beside the given type. */
export const nullable = <T extends TSchema>(schema: T, options: SchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options)

/** An optional field of a request that may be sent as null. */
export const optional = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))

/** An id in a body: a positive integer below 2^53, or the same as a digit string; `normalize` makes it a number. */
export const idInBody = () =>
  Type.Unsafe<number>(
    Type.Union(
      [
        Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
        text(16, { format: 'id', whenBlank: 'required' }),
      ],
      { readAs: 'id' },
    ),
  )

/** An id in a query. Read it with `Number()`. */
export const idInQuery = () => Type.Optional(text(16, { format: 'id', whenBlank: 'invalid' }))

/** A date in a query, where a blank value is not the same as none. */
export const dateInQuery = () => Type.Optional(date({ whenBlank: 'invalid' }))

/** The code for a number that is too small, if other than `min`. */
export interface NumberCodes {
  belowMinimum?: 'invalid'
}

/** An amount of money in major units. */
export const money = (options: NumberCodes = {}) =>
  Type.Number({ minimum: 0, maximum: 1_000_000_000, ...options })

/** A count of things. */
export const count = (maximum = 2_147_483_647) => Type.Integer({ minimum: 0, maximum })

/** A path id as a number, or undefined unless it is a positive integer below 2^53. */
export function parsePathId(value: string | undefined): number | undefined {
  return value !== undefined && isIdText(value) ? Number(value) : undefined
}

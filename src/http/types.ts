import {
  FormatRegistry,
  type SchemaOptions,
  type StringOptions,
  type TProperties,
  type TSchema,
  Type,
} from '@sinclair/typebox'
import currencyCodes from 'currency-codes'
import { isCalendarDate } from '../clock.ts'

/**
 * The leaf types of every request and answer (decisions §1).
 *
 * Formats let a blank string pass, because an optional string sent blank is stored as null;
 * a required string also asks for `notBlank`.
 */

/** Codes 422 answers give for a schema, where the general rule in `validation.ts` would give another. */
export interface CodeOption {
  errorCode?: 'invalid'
}

export const notBlank = '\\S'

const isBlank = (text: string) => text.trim() === ''
const isText = (text: string) => text.isWellFormed() && !text.includes('\0')
const id = /^[1-9]\d{0,15}$/
const emailAddress = /^[^\s@<>()[\]\\,;:"]{1,64}@[\p{L}\p{N}][\p{L}\p{N}-]*(\.[\p{L}\p{N}][\p{L}\p{N}-]*)+$/u
const isCurrency = (code: string) => currencyCodes.code(code) !== undefined
const language = /^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})?$/
const timeOfDay = /^([01]\d|2[0-3]):[0-5]\d$/

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && (url.protocol === 'https:' || url.protocol === 'http:')
}

function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z]/.test(text)) return false
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }))
  } catch {
    return false
  }
}

const formats: Record<string, (text: string) => boolean> = {
  text: () => true,
  date: isCalendarDate,
  uri: isWebAddress,
  email: (text) => emailAddress.test(text.trim()),
  language: (text) => language.test(text),
  timezone: isTimeZone,
  currency: isCurrency,
  'time-of-day': (text) => timeOfDay.test(text),
}
for (const [name, accepts] of Object.entries(formats)) {
  FormatRegistry.Set(name, (text) => isText(text) && (isBlank(text) || accepts(text)))
}
FormatRegistry.Set('id', (text) => id.test(text) && Number.isSafeInteger(Number(text)))

/** A string with a maximum length, no NUL and no broken surrogate pair. */
export const text = (maxLength = 255, options: StringOptions & CodeOption = {}) =>
  Type.String({ format: 'text', maxLength, ...options })

/** A string that must hold more than white space. */
export const requiredText = (maxLength = 255, options: StringOptions = {}) =>
  text(maxLength, { pattern: notBlank, ...options })

/** An enumerated word whose values the contract does not show. */
export const word = () => text(64)

/** A calendar date `YYYY-MM-DD`. */
export const date = (options: StringOptions = {}) =>
  Type.String({ format: 'date', maxLength: 255, ...options })

/** An http or https address; stored, never fetched. */
export const webAddress = () => Type.String({ format: 'uri', maxLength: 2048 })

/** The body or query of a request: fields that the schema does not name are ignored. */
export const requestObject = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: true })

/** An object of an answer: a field that the schema does not name is our mistake and is never sent. */
export const answerObject = <T extends TProperties>(properties: T) =>
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
        Type.String({ format: 'id', maxLength: 16 }),
      ],
      { readAs: 'id' },
    ),
  )

/** An id in a query. Read it with `Number()`. */
export const idInQuery = () => Type.Optional(Type.String({ format: 'id' }))

/** A date in a query, where blank is not "not sent". */
export const dateInQuery = () =>
  Type.Optional(Type.String({ format: 'date', minLength: 1, errorCode: 'invalid' }))

/** An amount of money in major units. */
export const money = (options: CodeOption = {}) =>
  Type.Number({ minimum: 0, maximum: 1_000_000_000, ...options })

/** A count of things. */
export const count = (maximum = 1_000_000) => Type.Integer({ minimum: 0, maximum })

/** A path id as a number, or undefined where it is no positive integer below 2^53. */
export function parsePathId(value: string | undefined): number | undefined {
  return value !== undefined && FormatRegistry.Get('id')?.(value) ? Number(value) : undefined
}

import { OptionalKind, type TSchema } from '@sinclair/typebox'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import type { Problem, ProblemCode } from '../errors.ts'
import { notBlank } from './types.ts'

/**
 * Turns TypeBox errors into `errors[]` (decisions §1): one entry per offending path, the first problem
 * only, in the order of the schema. Never repeats the value sent, which may be a password.
 */
export function toProblems(errors: Iterable<ValueError>): Problem[] {
  const problems = new Map<string, Problem>()
  for (const error of errors) {
    const problem = toProblem(error)
    if (!problems.has(problem.path)) problems.set(problem.path, problem)
  }
  return [...problems.values()]
}

function toProblem(error: ValueError): Problem {
  const offence = unwrapNullable(error)
  const code = codeOf(offence)
  const path = toPath(error.path)
  return { path: path || 'body', code, message: messageFor(path || 'body', code, offence) }
}

/** A field that may be null fails as a union; what the sender wants to know is what its own type asks for. */
function unwrapNullable(error: ValueError): ValueError {
  const variants = (error.schema.anyOf ?? []) as TSchema[]
  if (error.type !== ValueErrorType.Union || !variants.some((variant) => variant.type === 'null'))
    return error
  const wanted = variants.findIndex((variant) => variant.type !== 'null')
  return error.errors[wanted]?.First() ?? error
}

const tooLarge = new Set([
  ValueErrorType.StringMaxLength,
  ValueErrorType.ArrayMaxItems,
  ValueErrorType.NumberMaximum,
  ValueErrorType.IntegerMaximum,
])

const tooSmall = new Set([
  ValueErrorType.StringMinLength,
  ValueErrorType.ArrayMinItems,
  ValueErrorType.NumberMinimum,
  ValueErrorType.IntegerMinimum,
])

function codeOf({ value, schema, type }: ValueError): ProblemCode {
  const mayBeLeftOut = OptionalKind in schema
  const isBlank = typeof value === 'string' && value.trim() === ''
  if (value === undefined || (value === null && !mayBeLeftOut)) return 'required'
  if (isBlank && (!mayBeLeftOut || schema.pattern === notBlank) && !schema.errorCode) return 'required'
  if (schema.errorCode) return schema.errorCode
  if (tooLarge.has(type)) return 'max'
  if (tooSmall.has(type)) return 'min'
  return 'invalid'
}

const expectations: Record<string, string> = {
  text: 'text without NUL or broken characters',
  date: 'a real calendar date written YYYY-MM-DD',
  uri: 'an http or https address',
  email: 'an e-mail address',
  language: 'a short language code such as "en"',
  timezone: 'an IANA time zone such as "Europe/Madrid"',
  'time-of-day': 'a time written HH:MM',
  currency: 'an ISO currency code such as "EUR"',
  id: 'a positive integer id',
  'feed-time': 'a date Y-m-d or a date-time Y-m-d H:i:s',
}

function expectationOf({ schema, value }: ValueError): string {
  if (schema.type === 'string' && typeof value !== 'string')
    return Array.isArray(value) ? 'sent once' : 'a string'
  if (schema.format && expectations[schema.format]) return expectations[schema.format] as string
  const variants = (schema.anyOf ?? []) as TSchema[]
  if (schema.answerAs === 'id' || variants.some(({ format }) => format === 'id'))
    return expectations.id as string
  const constants = constantsOf(schema).map((constant) => `"${constant}"`)
  if (constants.length > 0) return `one of ${constants.join(', ')}`
  return /^[aeiou]/.test(schema.type ?? '') ? `an ${schema.type}` : `a ${schema.type ?? 'valid value'}`
}

/** The words that a schema allows, itself or in its elements. */
function constantsOf(schema: TSchema): unknown[] {
  if (schema.const !== undefined) return [schema.const]
  const parts = [...((schema.anyOf ?? []) as TSchema[]), ...(schema.items ? [schema.items as TSchema] : [])]
  return [...new Set(parts.flatMap(constantsOf))]
}

function messageFor(path: string, code: ProblemCode, error: ValueError): string {
  const { schema } = error
  const upper = schema.maxLength ?? schema.maxItems ?? schema.maximum
  const lower = schema.minLength ?? schema.minItems ?? schema.minimum
  const unit = schema.type === 'string' ? ' characters' : schema.type === 'array' ? ' elements' : ''
  if (code === 'required') return `"${path}" is required`
  if (code === 'max') return `"${path}" must be at most ${upper}${unit}`
  if (code === 'min')
    return `"${path}" must be at least ${lower}${lower === 1 ? unit.replace(/s$/, '') : unit}`
  const bound =
    schema.errorCode && lower !== undefined && schema.type !== 'string' ? `, at least ${lower}` : ''
  return `"${path}" must be ${expectationOf(error)}${bound}`
}

/** `/rooms/0/name` → `rooms.0.name`. */
function toPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')
}

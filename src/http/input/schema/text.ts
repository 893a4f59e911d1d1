import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import type { ProblemCode } from '../../../core/errors.ts'
import { type FormatName, formats } from './formats.ts'

/** Rules for a string in a request. Lengths are in code points, as in JSON Schema. */
export interface TextOptions {
  format?: FormatName
  minLength?: number
  description?: string
  /** Example for the documentation. */
  example?: string
  /** Surrounding white space is neither counted nor stored. */
  trims?: true
  /** Problem code for a blank string. By default, a blank string is accepted. */
  whenBlank?: 'required' | 'min' | 'invalid'
  /** Problem code for a value that is not a string; `invalid` by default. */
  errorCode?: 'required'
}

/** The schema returned by {@link text}. */
export interface TextSchema extends TextOptions {
  maxLength: number
}

const kind = 'Text'

/** Returns the schema of a string with a maximum length and without NUL characters or lone surrogates. */
export function text(maxLength = 255, options: TextOptions = {}) {
  return Type.Unsafe<string>({ [Kind]: kind, type: 'string', format: 'text', maxLength, ...options })
}

/** Returns the code of the first problem with a value of a {@link text} schema; null if the value is valid. */
export function textProblem(schema: TextSchema, value: unknown): ProblemCode | null {
  if (typeof value !== 'string') return schema.errorCode ?? 'invalid'
  if (!value.isWellFormed() || value.includes('\0')) return 'invalid'
  const text = schema.trims ? value.trim() : value
  if (isLongerThan(text, schema.maxLength)) return 'max'
  if (value.trim() === '') return schema.whenBlank ?? null
  if (schema.minLength !== undefined && !isLongerThan(text, schema.minLength - 1)) return 'min'
  return formats[schema.format ?? 'text'].accepts(text) ? null : 'invalid'
}

TypeRegistry.Set<TextSchema>(kind, (schema, value) => textProblem(schema, value) === null)

/** Returns true if a text has more than `characters` code points. Counts them only if `length` is inconclusive. */
function isLongerThan(text: string, characters: number): boolean {
  if (text.length <= characters) return false
  return text.length > 2 * characters || [...text].length > characters
}

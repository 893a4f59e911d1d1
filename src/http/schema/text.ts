import { Kind, Type, TypeRegistry } from '@sinclair/typebox'
import type { ProblemCode } from '../../core/errors.ts'
import { type FormatName, formats } from './formats.ts'

/** Rules for a string of a request. Lengths count code points, as in JSON Schema. */
export interface TextOptions {
  format?: FormatName
  minLength?: number
  description?: string
  /** Example for the documentation. */
  example?: string
  /** Surrounding white space does not count and is not stored. */
  trims?: true
  /** The meaning of a string of only white space: nothing sent (the default), or a problem with this code. */
  whenBlank?: 'required' | 'min' | 'invalid'
  /** The code for anything but a string, if other than `invalid`. */
  errorCode?: 'required'
}

/** The schema that {@link text} makes. */
export interface TextSchema extends TextOptions {
  maxLength: number
}

const kind = 'Text'

/** A string with a maximum length, no NUL and no broken surrogate pair. */
export function text(maxLength = 255, options: TextOptions = {}) {
  return Type.Unsafe<string>({ [Kind]: kind, type: 'string', format: 'text', maxLength, ...options })
}

/** The code of the first thing that is wrong with a value of a {@link text} schema, or null. */
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

/** Compares the number of code points without counting those of a text that is far too long. */
function isLongerThan(text: string, characters: number): boolean {
  if (text.length <= characters) return false
  return text.length > 2 * characters || [...text].length > characters
}

import { OptionalKind, type TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { Problem, ProblemCode } from '../../../core/errors.ts'
import { formats } from './formats.ts'
import { isObject, nonNull } from './normalize.ts'
import { type TextSchema, textProblem } from './text.ts'
import { demandOfUnreadable } from './unreadable.ts'

/** Maximum number of problems that one error lists (decisions §1). */
export const maxProblems = 100

/**
 * Returns the problems with a request value (decisions §1): one entry per offending path, in schema order. A list that
 * is too long gets one entry, and its elements are not inspected. No message repeats the value, which may be a
 * password.
 *
 * @param refine checks combinations of fields
 */
export function findProblems(
  schema: TSchema,
  value: unknown,
  refine?: (value: unknown, isValidAt: (path: string) => boolean) => Problem[],
): Problem[] {
  const problems = new Map<string, Problem>()
  inspect(schema, value, '', problems)
  const isValidAt = (path: string) =>
    [...problems.keys()].every((offending) => !`${path}.`.startsWith(`${offending}.`))
  if (refine && problems.size < maxProblems)
    for (const problem of refine(value, isValidAt)) add(problems, problem)
  const fields = Object.keys(schema.properties ?? {})
  const placeOf = ({ path }: Problem) => fields.indexOf(path.split('.')[0] as string)
  return [...problems.values()].sort((one, other) => placeOf(one) - placeOf(other))
}

type Problems = Map<string, Problem>

function add(problems: Problems, problem: Problem): void {
  if (problems.size < maxProblems && !problems.has(problem.path)) problems.set(problem.path, problem)
}

const checks = new WeakMap<TSchema, TypeCheck<TSchema>>()

function isValid(schema: TSchema, value: unknown): boolean {
  const check = checks.get(schema) ?? TypeCompiler.Compile(schema)
  checks.set(schema, check)
  return check.Check(value)
}

/** Adds the problems with a value, descending only into its invalid parts. */
function inspect(schema: TSchema, value: unknown, path: string, problems: Problems): void {
  const isOptional = OptionalKind in schema
  if (problems.size >= maxProblems || (value === undefined && isOptional) || isValid(schema, value)) return
  const type = nonNull(schema)
  const isMissing = value === undefined || (value === null && !isOptional)
  if (type.type === 'object' && (isMissing || isObject(value))) inspectFields(type, value, path, problems)
  else if (type.type === 'array' && Array.isArray(value)) inspectElements(type, value, path, problems)
  else if (isMissing) add(problems, problemOf(type, 'required', path))
  else add(problems, problemOf(type, codeOf(type, value), path, value))
}

/** Adds the problems with an object's fields. If the object is missing, its required fields are reported. */
function inspectFields(schema: TSchema, value: unknown, path: string, problems: Problems): void {
  const sent = (value ?? {}) as Record<string, unknown>
  const before = problems.size
  for (const [name, field] of Object.entries(schema.properties as Record<string, TSchema>))
    inspect(field, sent[name], join(path, name), problems)
  if (problems.size === before) add(problems, problemOf(schema, 'required', path))
}

function inspectElements(schema: TSchema, value: unknown[], path: string, problems: Problems): void {
  const { items, maxItems = Number.POSITIVE_INFINITY, minItems = 0 } = schema
  if (value.length > maxItems) add(problems, problemOf(schema, 'max', path))
  else if (value.length < minItems) add(problems, problemOf(schema, 'min', path))
  else if (schema.uniqueItems && new Set(value).size < value.length)
    add(problems, { path, code: 'invalid', message: `"${path}" must not contain duplicates` })
  else
    for (let index = 0; index < value.length && problems.size < maxProblems; index += 1) {
      const at = schema.namesElements === false ? path : join(path, String(index))
      if (value[index] === null) add(problems, problemOf(items, 'required', at))
      else inspect(items, value[index], at, problems)
    }
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function codeOf(schema: TSchema, value: unknown): ProblemCode {
  const text = typeof value === 'string' || schema.type === 'string' ? textVariantOf(schema) : undefined
  if (text) return textProblem(text, value) ?? 'invalid'
  if (typeof value !== 'number' || (schema.type === 'integer' && !Number.isInteger(value))) return 'invalid'
  if (value > schema.maximum) return 'max'
  return value < schema.minimum ? (schema.belowMinimum ?? 'min') : 'invalid'
}

function textVariantOf(schema: TSchema): TextSchema | undefined {
  const variants: TSchema[] = schema.anyOf ?? [schema]
  return variants.find(({ type, maxLength }) => type === 'string' && maxLength !== undefined) as
    | TextSchema
    | undefined
}

function problemOf(schema: TSchema, code: ProblemCode, path: string, value?: unknown): Problem {
  const at = path || 'body'
  const demand = demandOfUnreadable(value) ?? demandOf(schema, code, value)
  return { path: at, code, message: `"${at}" ${demand}` }
}

/** What the bounds of a type count; a number has none. */
const units: Record<string, string> = { string: ' characters', array: ' elements' }

function demandOf(schema: TSchema, code: ProblemCode, value: unknown): string {
  const upper = schema.maxLength ?? schema.maxItems ?? schema.maximum
  const lower = schema.minLength ?? schema.minItems ?? schema.minimum
  const unit = units[schema.type as string] ?? ''
  if (code === 'required') return 'is required'
  const verb = unit === '' ? 'be' : 'have'
  if (code === 'max') return `must ${verb} at most ${upper}${unit}`
  if (code === 'min') return `must ${verb} at least ${lower}${lower === 1 ? unit.replace(/s$/, '') : unit}`
  const bound = schema.belowMinimum ? `, at least ${lower}` : ''
  return `must be ${expectationOf(schema, value)}${bound}`
}

function expectationOf(schema: TSchema, value: unknown): string {
  if (schema.type === 'string' && typeof value !== 'string')
    return Array.isArray(value) ? 'a single string' : 'a string'
  if (schema.format === 'text' && String(value).trim() === '') return 'non-blank text'
  const variants = (schema.anyOf ?? []) as TSchema[]
  const format = schema.format ?? variants.find((variant) => variant.format === 'id')?.format
  if (format in formats) return formats[format as keyof typeof formats].expectation
  if (schema.type === 'array') return 'a list'
  const words = constantsOf(schema).map((constant) => `"${constant}"`)
  if (words.length > 0) return `one of ${words.join(', ')}`
  if (schema.respondsAs === 'id') return formats.id.expectation
  return /^[aeiou]/.test(schema.type ?? '') ? `an ${schema.type}` : `a ${schema.type ?? 'valid value'}`
}

/** Returns the constant values that a schema allows. */
function constantsOf(schema: TSchema): unknown[] {
  if (schema.const !== undefined) return [schema.const]
  const variants = (schema.anyOf ?? []) as TSchema[]
  return [...new Set(variants.flatMap(constantsOf))]
}

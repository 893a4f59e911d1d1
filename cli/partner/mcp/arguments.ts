import type { TProperties, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { UsageError } from '../../shared/errors.ts'
import { parseJson } from '../../shared/values.ts'

type Fields = Record<string, unknown>

/** The parts of a tool's input schema that its arguments are held against. */
interface Wanted {
  properties: TProperties
  required?: string[] | undefined
}

/**
 * Prepares the arguments of a tool's call. Some agents send a list or an object as text, and null for what they leave out,
 * so text that parses to the wanted type is taken as that, and null for an optional argument counts as absent
 * (decisions §27).
 */
export function prepareArguments({ properties, required = [] }: Wanted, given: unknown): Fields {
  const found = Object.entries((given ?? {}) as Fields)
    .filter(([name, value]) => value !== null || required.includes(name) || !Object.hasOwn(properties, name))
    .map(([name, value]) => [name, valueFor(schemaOf(properties, name), value)])
  return Object.fromEntries(found)
}

/** Returns the error for prepared arguments that the schema refuses; it says what was sent and what to send. */
export function argumentError({ properties, required = [] }: Wanted, input: Fields): UsageError {
  for (const [name, value] of Object.entries(input)) {
    const wanted = schemaOf(properties, name)
    if (!wanted) {
      const names = Object.keys(properties).join(', ')
      return new UsageError(`Argument "${name}" is unknown: ${names ? `send ${names}` : 'send none'}`)
    }
    if (!Value.Check(wanted, value))
      return new UsageError(
        `Argument "${name}": send ${describeType(wanted)}, not ${describeRefused(wanted, value)}`,
      )
  }
  const missing = required.find((name) => input[name] === undefined) ?? ''
  return new UsageError(`Argument "${missing}" is missing: send ${describeType(properties[missing])}`)
}

/** Returns the schema of an argument; undefined for a name that every object has, such as `constructor`. */
function schemaOf(properties: TProperties, name: string): TSchema | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** Returns what text stands for if the schema does not want text; any other value unchanged. */
function valueFor(schema: TSchema | undefined, value: unknown): unknown {
  const isWanted: boolean = schema === undefined || Value.Check(schema, value)
  if (isWanted || schema === undefined) return value
  if (Array.isArray(value)) return (value as unknown[]).map((one) => valueFor(schema.items, one))
  if (typeof value !== 'string') return value
  const parsed = parseJson(value)
  return Value.Check(schema, parsed) ? parsed : value
}

const typeNames: Record<string, string> = {
  object: 'an object',
  array: 'a list of objects',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
}

function describeType(schema: TSchema | undefined): string {
  if (schema?.type === 'array' && schema.items?.type === 'string') return 'a list of strings'
  return typeNames[schema?.type ?? ''] ?? 'another value'
}

/** Returns in words what the schema refuses: the kind of the value or, in a list, of the first wrong element. */
function describeRefused(schema: TSchema, value: unknown): string {
  if (schema.type !== 'array' || !Array.isArray(value)) return describeValue(value)
  const wrong: unknown = value.find((one) => !Value.Check(schema.items, one))
  return `a list with ${describeValue(wrong)}`
}

/** Returns the kind of a value in words. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  return `a ${typeof value}`
}

import { isDeepStrictEqual } from 'node:util'
import type { Static, TSchema } from '@sinclair/typebox'
import { shownFieldPath } from '../../logged-path.ts'

/**
 * Converts a value that a client sent: blank optional strings become null, ids sent as strings become numbers, and
 * ignored fields are left out. `ignored` contains the paths of unknown and read-only fields in body order, depth first,
 * in the form that responses may show (decisions §27). If the schema rejects the sent value, `ignored` is still
 * correct, but the returned `value` is meaningless.
 *
 * @param most maximum number of paths in `ignored`
 * @param current the resource as a GET would return it; a field sent with its current value is not listed in `ignored`
 */
export function normalizeSent<S extends TSchema>(
  schema: S,
  value: unknown,
  most: number,
  current?: unknown,
): { value: Static<S>; ignored: string[] } {
  const ignored = new Set<string>()
  const ignore = (path: string) => {
    if (ignored.size < most) ignored.add(shownFieldPath(path))
  }
  return { value: converterOf(schema)(value, '', ignore, current) as Static<S>, ignored: [...ignored] }
}

/** Like {@link normalizeSent}, but returns only the converted value. The value must be valid. */
export function normalize<S extends TSchema>(schema: S, value: unknown): Static<S> {
  return normalizeSent(schema, value, 0).value
}

/**
 * Converts one value.
 *
 * @param at path of the value, with a trailing dot unless the path is empty
 * @param ignore receives the path of each ignored field
 * @param current the value's counterpart in the current resource; undefined if there is none
 */
type Converter = (sent: unknown, at: string, ignore: (path: string) => void, current: unknown) => unknown

const converters = new WeakMap<TSchema, Converter>()

/** Returns a schema's converter. Converters are cached, because a bulk write converts thousands of values. */
function converterOf(schema: TSchema): Converter {
  const known = converters.get(schema)
  if (known) return known
  const convert = makeConverter(nonNull(schema))
  const made: Converter = isNullable(schema)
    ? (sent, at, ignore, current) =>
        typeof sent === 'string' && sent.trim() === '' ? null : convert(sent, at, ignore, current)
    : convert
  converters.set(schema, made)
  return made
}

function makeConverter(type: TSchema): Converter {
  if (type.trims) return (sent) => (typeof sent === 'string' ? sent.trim() : sent)
  if (type.readAs === 'id') return (sent) => (typeof sent === 'string' ? Number(sent) : sent)
  if (type.type === 'array') return makeListConverter(type)
  return type.type === 'object' ? makeObjectConverter(type) : (sent) => sent
}

function makeListConverter({ items }: TSchema): Converter {
  const convert = converterOf(items)
  return (sent, at, ignore, current) => {
    if (!Array.isArray(sent)) return sent
    const currentOf = counterparts(current)
    return sent.map((item, index) => convert(item, `${at}${index}.`, ignore, currentOf(item, index)))
  }
}

function makeObjectConverter(type: TSchema): Converter {
  const fields = new Map(propertiesOf(type).map(([name, property]) => [name, converterOf(property)]))
  return (sent, at, ignore, current) => {
    if (!isObject(sent)) return sent
    const converted: Record<string, unknown> = {}
    for (const name of Object.keys(sent)) {
      const value = sent[name]
      const convert = fields.get(name)
      const currentValue = isObject(current) && Object.hasOwn(current, name) ? current[name] : undefined
      if (convert) converted[name] = convert(value, `${at}${name}.`, ignore, currentValue)
      else if (!isDeepStrictEqual(value, currentValue)) ignore(at + name)
    }
    return converted
  }
}

/**
 * Returns a function that finds a sent list element's counterpart in the current list: by the internal id or the
 * partner's own id, or by position if the current elements have no ids.
 */
function counterparts(current: unknown): (sent: unknown, index: number) => unknown {
  if (!Array.isArray(current)) return () => undefined
  const byId = new Map<unknown, unknown>()
  const elements = current.filter(isObject)
  // An internal id may be sent as a string, but a partner's own id takes precedence.
  for (const element of elements)
    if (element.id) byId.set(element.id, element).set(String(element.id), element)
  for (const element of elements) if (element.original_id) byId.set(element.original_id, element)
  if (byId.size === 0) return (_, index) => current[index]
  return (sent) => (isObject(sent) ? byId.get(sent.id) : undefined)
}

/** Returns true for an object that is not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const isNull = (schema: TSchema) => schema.type === 'null'
const isNullable = (schema: TSchema) => (schema.anyOf as TSchema[] | undefined)?.some(isNull) ?? false

/** Returns a nullable field's type without null. Error messages state that type's requirements, not the union's. */
export const nonNull = (schema: TSchema): TSchema =>
  isNullable(schema) ? ((schema.anyOf as TSchema[]).find((variant) => !isNull(variant)) ?? schema) : schema

/** Returns the names and schemas of an object's fields. */
export const propertiesOf = (schema: TSchema) =>
  Object.entries((schema.properties ?? {}) as Record<string, TSchema>)

import { type ResponseForm, responseForms } from '../../http/input/schema/fields.ts'
import { type Format, type FormatName, formats } from '../../http/input/schema/formats.ts'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI fragments are plain JSON trees
export type Json = any

/** Our own schema keywords, which other tools do not know. */
export const ownKeywords = new Set([
  'readAs',
  'respondsAs',
  'errorCode',
  'belowMinimum',
  'trims',
  'whenBlank',
  'namesElements',
  'form',
  'words',
])

/** Named schemas, by name. */
export type Components = Map<string, Json>

/**
 * Converts a schema for other tools. A schema with a title becomes a component of that name, our formats become
 * patterns, and our keywords are left out. A request object does not forbid additional fields.
 */
export function documentSchema(schema: Json, components: Components): Json {
  if (Array.isArray(schema)) return schema.map((one) => documentSchema(one, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const { title, ...untitled } = schema
  if (schema.readAs === 'id') return sentId(schema.description)
  if (typeof title !== 'string') return simplerUnion(documentKeywords(untitled, components))
  const { description: _, ...component } = documentKeywords(untitled, components)
  const known = components.get(title)
  if (known && JSON.stringify(known) !== JSON.stringify(component))
    throw new Error(`Two schemas have the name "${title}"`)
  components.set(title, component)
  const { description } = schema
  const reference = { $ref: `#/components/schemas/${title}` }
  return description ? { ...reference, description } : reference
}

/** Returns the schema of an id in a request's body, which may also be sent as a string (contract, Availability). */
function sentId(description: string | undefined): Json {
  const { documented } = formats.id as Format
  return { type: ['integer', 'string'], minimum: 1, ...documented, description }
}

function documentKeywords(schema: Json, components: Components): Json {
  return Object.fromEntries(
    Object.entries(withDocumentedForms(schema)).flatMap(([key, value]) => {
      if (ownKeywords.has(key) || (key === 'additionalProperties' && value === true)) return []
      // With these keywords, some generators write a tuple type for each possible length.
      if (key === 'maxItems' || key === 'minItems') return []
      // Generators recognize a record by `additionalProperties`.
      if (key === 'patternProperties')
        return [['additionalProperties', documentSchema(Object.values(value as object)[0], components)]]
      if (key === 'properties')
        return [[key, mapValues(value as Json, (one) => documentSchema(one, components))]]
      return [[key, key === 'example' || key === 'enum' ? value : documentSchema(value, components)]]
    }),
  )
}

function withDocumentedForms(schema: Json): Json {
  const { format, form, words, maxLength, ...rest } = schema
  const ours = schema.type === 'string' && format in formats ? documentedFormat(schema) : { format }
  return {
    ...rest,
    // The maximum length of a date, a time or a zone follows from its format.
    ...(maxLength === undefined || (format !== undefined && format !== 'text') ? {} : { maxLength }),
    ...(format === undefined ? {} : ours),
    ...(form in responseForms ? responseForms[form as ResponseForm] : {}),
    ...(words ? { enum: words } : {}),
    ...(schema.maxItems
      ? { description: `${schema.description ?? 'A list'}; at most ${schema.maxItems} entries` }
      : {}),
  }
}

/** Expresses a format in standard keywords. Uses a pattern only if no length or standard format fits. */
function documentedFormat({ format, whenBlank, minLength }: Json): Json {
  if (format === 'text') return whenBlank ? { minLength: minLength ?? 1 } : {}
  const { documented } = formats[format as FormatName] as Format
  // A pattern that lists all time zones is less helpful than the field's description.
  return (documented.pattern?.length ?? 0) > 100 ? {} : documented
}

/** Rewrites a union in the form that generators handle best. */
function simplerUnion(schema: Json): Json {
  const { anyOf, ...rest } = schema
  if (!anyOf) return schema
  if (anyOf.every((one: Json) => typeof one.const === 'string'))
    return { ...rest, type: 'string', enum: anyOf.map((one: Json) => one.const) }
  const types = anyOf.flatMap((one: Json) => one.type ?? [])
  const isPlain = types.length >= anyOf.length && new Set(types).size === types.length
  // A keyword such as `minimum` only concerns its own type, so members of different types can share one schema. An
  // `enum` concerns all types, and generators cannot read one that contains null.
  if (isPlain && anyOf.every((one: Json) => !one.enum))
    return { ...Object.assign({}, ...anyOf), ...rest, type: types }
  const { description = anyOf[0].description } = rest
  return { ...rest, anyOf, ...(description === undefined ? {} : { description }) }
}

/** Returns a copy of the object with every value mapped. */
export function mapValues(object: Json, map: (value: Json, key: string) => Json): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}

import { type ResponseForm, responseForms } from '../../http/schema/fields.ts'
import { type Format, type FormatName, formats } from '../../http/schema/formats.ts'

// biome-ignore lint/suspicious/noExplicitAny: OpenAPI fragments are plain trees of JSON
export type Json = any

/** Keywords of our own in schemas, which mean nothing to other tools. */
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

/** Schemas that have a name, by that name. */
export type Components = Map<string, Json>

/**
 * A schema as other tools read it: what has a title becomes a component of that name, our formats become patterns,
 * and our keywords are left out. An object of a request does not forbid further fields.
 */
export function documentSchema(schema: Json, components: Components): Json {
  if (Array.isArray(schema)) return schema.map((one) => documentSchema(one, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const { title, ...untitled } = schema
  // Digits in a string are accepted too, which would only make every client's type wider.
  if (schema.readAs === 'id') return { type: 'integer', minimum: 1, description: schema.description }
  if (typeof title !== 'string') return nullableType(documentKeywords(untitled, components))
  const { description: _, ...component } = documentKeywords(untitled, components)
  const known = components.get(title)
  if (known && JSON.stringify(known) !== JSON.stringify(component))
    throw new Error(`Two schemas have the name "${title}"`)
  components.set(title, component)
  const { description } = schema
  const reference = { $ref: `#/components/schemas/${title}` }
  return description ? { ...reference, description } : reference
}

function documentKeywords(schema: Json, components: Components): Json {
  return Object.fromEntries(
    Object.entries(withDocumentedForms(schema)).flatMap(([key, value]) => {
      if (ownKeywords.has(key) || (key === 'additionalProperties' && value === true)) return []
      // Some generators write a tuple for each possible length.
      if (key === 'maxItems' || key === 'minItems') return []
      // A record: generators know it by its other spelling.
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
    // The length of a date, a time or a zone follows from its form.
    ...(maxLength === undefined || (format !== undefined && format !== 'text') ? {} : { maxLength }),
    ...(format === undefined ? {} : ours),
    ...(form in responseForms ? responseForms[form as ResponseForm] : {}),
    ...(words ? { enum: words } : {}),
    ...(schema.maxItems
      ? { description: `${schema.description ?? 'A list'}; at most ${schema.maxItems}` }
      : {}),
  }
}

function documentedFormat({ format, whenBlank }: Json): { format?: string; pattern?: string } {
  if (format === 'text') return whenBlank ? { pattern: String.raw`\S` } : {}
  const { documented } = formats[format as FormatName] as Format
  // A list of all time zones says less than its description.
  return (documented.pattern?.length ?? 0) > 100 ? {} : documented
}

/** `anyOf: [X, null]` and unions of words in the shorter spelling that generators read best. */
function nullableType(schema: Json): Json {
  const { anyOf, ...rest } = schema
  if (anyOf?.length > 0 && anyOf.every((one: Json) => typeof one.const === 'string'))
    return { ...rest, type: 'string', enum: anyOf.map((one: Json) => one.const) }
  if (anyOf?.length !== 2 || anyOf[1]?.type !== 'null' || typeof anyOf[0]?.type !== 'string') return schema
  const { type, enum: words, ...keywords } = anyOf[0]
  return { ...keywords, ...(words ? { enum: [...words, null] } : {}), ...rest, type: [type, 'null'] }
}

/** An object with every value mapped. */
export function mapValues(object: Json, map: (value: Json, key: string) => Json): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, map(value, key)]))
}

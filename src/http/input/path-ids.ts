const id = /^[1-9]\d{0,15}$/

/** Returns true for a positive integer below 2^53, written in digits without leading zeros. */
export const isIdText = (text: string) => id.test(text) && Number.isSafeInteger(Number(text))

/** Returns a path id as a number, or undefined if it is not a positive integer below 2^53. */
export function parsePathId(value: string | undefined): number | undefined {
  return value !== undefined && isIdText(value) ? Number(value) : undefined
}

/** Returns true if the text consists of 1 to 64 lower-case letters, digits or hyphens. */
export const isSlug = (text: string) => /^[a-z0-9-]{1,64}$/.test(text)

/** Path parameters that look like ids by their names, but are texts. */
type TextName = 'delivery_id'

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

type IsId<Name extends string> = Name extends TextName
  ? false
  : Name extends 'id' | `${string}_id`
    ? true
    : false

/** The parameters of a path as handlers get them: ids are numbers, or undefined if nothing can have such an id. */
export type PathIds<Path extends string> = {
  [Name in NamesIn<Path>]: IsId<Name> extends true ? number | undefined : string
}

const textNames: ReadonlySet<string> = new Set<TextName>(['delivery_id'])
const isIdName = (name: string) => !textNames.has(name) && (name === 'id' || name.endsWith('_id'))

/** Returns the parameters of a path in the types of {@link PathIds}. */
export function readPathIds(
  params: Record<string, string> = {},
): Record<string, string | number | undefined> {
  const read: Record<string, string | number | undefined> = {}
  for (const [name, value] of Object.entries(params)) read[name] = isIdName(name) ? parsePathId(value) : value
  return read
}

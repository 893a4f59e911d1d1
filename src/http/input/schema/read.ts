import type { TProperties } from '@sinclair/typebox'
import { invalidFields, type Problem } from '../../../core/errors.ts'
import type { RequestSchema } from './fields.ts'
import { normalizeSent } from './normalize.ts'
import { findProblems, maxProblems } from './problems.ts'

/*
 * Checks a request's query and body against the route's schemas. The pipeline calls these functions, and not Elysia,
 * which would hand a schema nothing but the value. We decide what the errors contain: each path once, at most 100 paths, and
 * no part of the value.
 */

/**
 * Returns a query with its ids as numbers. Everything else already has the type of its parameter (query.ts).
 *
 * @throws DomainError `validation`
 */
export function readValidQuery(
  schema: RequestSchema,
  sent: Record<string, unknown>,
): Record<string, unknown> {
  const problems = findProblems(schema, sent, schema.refine)
  if (problems.length > 0) throw invalidFields(problems)
  return withNumericIds(schema.properties, sent)
}

/** Returns a valid query, whose ids are digits, with its ids as numbers. */
export function withNumericIds(
  properties: TProperties,
  sent: Record<string, unknown>,
): Record<string, unknown> {
  const query = { ...sent }
  for (const [name, { format }] of Object.entries(properties))
    if (format === 'id' && query[name] !== undefined) query[name] = Number(query[name])
  return query
}

/** How a body is read, in addition to its schema. */
export interface BodyReading {
  /** Problems found by the route's `check`, to be reported together with the schema's own (decisions §1). */
  problems: Problem[]
  /** True if every ignored field is reported as a problem (decisions §27). */
  isStrict: boolean
  /** Returns the resource that the request changes, as a GET would return it; undefined if there is none. */
  current: () => Promise<unknown> | undefined
}

/** Maximum number of ignored fields that a response names. */
const maxIgnored = 20

/**
 * Returns a body as {@link normalizeSent} converts it, and the paths of the fields that were ignored, at most 20
 * (decisions §27).
 *
 * @throws DomainError `validation`, also for each ignored field if `isStrict` is true
 */
export async function readValidBody(
  schema: RequestSchema,
  sent: Record<string, unknown>,
  reading: BodyReading,
): Promise<{ body: Record<string, unknown>; ignored: string[] }> {
  const own = findProblems(schema, sent, schema.refine)
  const problems = inFieldOrder(schema, [...reading.problems, ...own])
  if (problems.length > 0 && !reading.isStrict) throw invalidFields(problems)
  const most = reading.isStrict ? maxProblems : maxIgnored
  let { value, ignored } = normalizeSent(schema, sent, most)
  const current = ignored.length > 0 ? await reading.current() : undefined
  if (current) ({ value, ignored } = normalizeSent(schema, sent, most, current))
  const known = problems.map(({ path }) => path)
  // The elements of a list that is too long are not inspected, so their ignored fields are not reported (decisions §1).
  const isKnown = (path: string) => known.some((one) => path === one || path.startsWith(`${one}.`))
  for (const path of reading.isStrict ? ignored : [])
    if (!isKnown(path)) problems.push({ path, code: 'invalid', message: `"${path}" is unknown or read-only` })
  if (problems.length > 0) throw invalidFields(problems)
  return { body: value, ignored }
}

/** Sorts problems in the order of the schema's fields. Problems whose path is not one of the fields come first. */
function inFieldOrder(schema: RequestSchema, problems: Problem[]): Problem[] {
  const fields = Object.keys(schema.properties)
  const placeOf = ({ path }: Problem) => fields.indexOf(path.split('.')[0] as string)
  return problems.sort((one, other) => placeOf(one) - placeOf(other))
}

import type { Static, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { Elysia } from 'elysia'
import type { Problem } from '../core/errors.ts'
import type { Access } from './access.ts'
import { documentAccess } from './answer/route-documentation.ts'
import type { AppContext } from './context.ts'
import type { PathIds } from './input/path-ids.ts'
import { queryFormOf } from './input/query.ts'
import type { RequestSchema } from './input/schema/fields.ts'
import { type Route, serve } from './pipeline.ts'
import type { Accepted, Arrival, RequestFacts, Sent, Unchecked } from './request.ts'
import type { Write } from './write.ts'
import { type WriteAnswer, Writer } from './writer.ts'

/** The schemas of a route's successful responses, by status. */
type Responses = Record<number, TSchema>

/** What a feature declares about a route, beside its path and its handler. */
export interface RouteSpec<
  Params extends object,
  Query extends RequestSchema,
  Body extends RequestSchema,
  Promised extends Responses,
> {
  access: Omit<Access, 'idempotent'>
  query?: Query
  body?: Body
  /** Returns problems that the body's schema cannot detect, to be reported together with the schema's own. */
  check?: (request: Unchecked<Params>) => Problem[]
  /**
   * Returns the resource that the request changes, as a GET would return it. A field that is sent with its current
   * value is not reported as ignored, so a client can send a resource back exactly as it was read (decisions §27). May
   * throw `not_found`.
   */
  current?: (request: Unchecked<Params>) => Promise<unknown>
  response: Promised
  detail: { operationId: string; summary: string; description?: string; tags?: string[] }
}

/** A handler: takes what the pipeline has accepted, and returns what the schemas promise. */
type Handler<
  Params extends object,
  Query extends RequestSchema,
  Body extends RequestSchema,
  Promised extends Responses,
> = (
  request: Accepted<Params, Static<Query>, Static<Body>>,
) => Returned<Promised> | Promise<Returned<Promised>>

/** The envelopes that the schemas promise. */
type Envelopes<Promised extends Responses> = Static<Extract<Promised[keyof Promised], TSchema>>

type Returned<Promised extends Responses> = Envelopes<Promised> | Response

/**
 * A handler that only declares: which write answers the request, what it is prepared from, and how its result is shown.
 * The pipeline carries it out. The route takes an `Idempotency-Key`, unless the write knows what it repeats.
 */
interface WritingHandler<
  Params extends object,
  Query extends RequestSchema,
  Body extends RequestSchema,
  Promised extends Responses,
  Input,
  Result,
> extends WriteAnswer<
    Accepted<Params, Static<Query>, Static<Body>>,
    Input,
    Result,
    Envelopes<Promised> & object
  > {
  write: Write<AppContext, Input, object, Result>
}

type AnyWrite = Write<AppContext, unknown, object, unknown>

/** Declares a route of one method. */
type Declare<Prefix extends string> = <
  Path extends string,
  Query extends RequestSchema,
  Body extends RequestSchema,
  Promised extends Responses,
  Input,
  Result,
>(
  path: Path,
  spec: RouteSpec<PathIds<`${Prefix}${Path}`>, Query, Body, Promised>,
  handler:
    | Handler<PathIds<`${Prefix}${Path}`>, Query, Body, Promised>
    | WritingHandler<PathIds<`${Prefix}${Path}`>, Query, Body, Promised, Input, Result>,
) => Routes<Prefix>

/** The routes of a feature, declared one after another. */
export interface Routes<Prefix extends string = string> {
  get: Declare<Prefix>
  post: Declare<Prefix>
  put: Declare<Prefix>
  patch: Declare<Prefix>
  delete: Declare<Prefix>
  readonly declared: DeclaredRoute[]
}

/** A route with its place and its documentation. */
interface DeclaredRoute {
  method: string
  path: string
  detail: object
  answer: (arrival: Arrival) => Promise<Sent>
}

/** Returns an empty list of routes below a prefix. */
export function routes<const Prefix extends string = ''>(
  app: AppContext,
  { prefix, tags = [] }: { prefix?: Prefix; tags?: string[] } = {},
): Routes<Prefix> {
  const declared: DeclaredRoute[] = []
  const writers = new Map<object, Writer<unknown, object, unknown>>()
  /** Routes with the same write share its turns. */
  const writerOf = (write: AnyWrite) => {
    const writer = writers.get(write) ?? new Writer(app, write)
    writers.set(write, writer)
    return writer
  }
  const declare =
    (method: string): Declare<Prefix> =>
    (path, spec, handler) => {
      const { query, body, check, current, response, detail } = spec
      const isWriting = typeof handler !== 'function'
      // A write that knows its repetitions by itself takes no key.
      const isKeyed = isWriting && handler.repeated === undefined
      const access: Access = isKeyed ? { ...spec.access, idempotent: true } : spec.access
      const serving = isWriting ? { writer: writerOf(handler.write as AnyWrite), answer: handler } : handler
      const route = {
        operationId: detail.operationId,
        access,
        query,
        queryForm: queryFormOf(query),
        body,
        check,
        current,
        handler: serving,
        requirePromised: promiseOf(response),
      }
      declared.push({
        method,
        path: `${prefix ?? ''}${path}`,
        detail: { tags, ...detail, ...documentAccess(access), schemas: { query, body, response } },
        answer: serve(app, route as Route),
      })
      return list
    }
  const list: Routes<Prefix> = {
    get: declare('GET'),
    post: declare('POST'),
    put: declare('PUT'),
    patch: declare('PATCH'),
    delete: declare('DELETE'),
    declared,
  }
  return list
}

/** Every context has this value from the start, so that its shape does not change. It is set on arrival. */
const noFactsYet: { facts: RequestFacts | undefined } = { facts: undefined }

/**
 * Returns routes below a root as a plugin. Elysia finds the route of a request and keeps what the documentation needs;
 * the pipeline does everything else.
 */
export function mount(root: string, lists: Pick<Routes, 'declared'>[]) {
  const plugin = new Elysia({ prefix: root }).decorate(noFactsYet as { facts: RequestFacts })
  for (const { method, path, detail, answer } of lists.flatMap(({ declared }) => declared))
    plugin.route(
      method,
      path,
      // Elysia reads a request's cookies, headers and query in advance if a handler passes its whole context on.
      ({ request, route, params, set, server, facts }) =>
        answer({ request, route, params, set, server, facts }),
      { parse: 'none', detail },
    )
  return plugin
}

/** Returns the check of a route's answers. A check is compiled at its first answer, because most are never needed. */
function promiseOf(responses: Responses): Route['requirePromised'] {
  const checks = new Map<number, TypeCheck<TSchema>>()
  return (status, answer) => {
    const schema = responses[status]
    if (!schema) throw new Error(`The route promises no response with status ${status}`)
    const check = checks.get(status) ?? TypeCompiler.Compile(schema)
    checks.set(status, check)
    if (check.Check(answer)) return
    // The value itself may be personal data, so only its place is named.
    const { path, message } = check.Errors(answer).First() ?? {}
    throw new Error(`The response breaks its schema at ${path}: ${message}`)
  }
}

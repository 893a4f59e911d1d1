import { NotFoundError } from 'elysia'
import { DomainError } from '../core/errors.ts'
import { currentTrace, traceOfRequest, withTrace } from '../core/trace.ts'
import { chooseRequestId } from './answer/envelope.ts'
import { secureTransport, securityHeaders } from './answer/security-headers.ts'
import type { AppContext } from './context.ts'
import { clientAddress, isTrustedProxy } from './input/client-address.ts'
import { IncomingBody } from './input/incoming-body.ts'
import { mayStayUnread, UnreadBodies } from './input/unread-body.ts'
import type { RequestFacts, ResponseSettings } from './request.ts'

/*
 * What happens to every request on its arrival, before Elysia looks for its route:
 *
 *   inTrace            the request and all that it causes belong to one trace
 *   answeringUnread    its response waits until a body that nobody reads has been thrown away
 *   arrive             the facts about it are made, and its response gets the headers that every response has
 *
 * The facts are one value. Elysia hands it on, in its context, to the pipeline and to the log. There is one exception:
 * `answeringUnread` gets the `Request` alone and no context. So the facts about such a request can also be found by its
 * `Request`. Nothing else may look them up this way.
 */
const byRequest = new WeakMap<Request, RequestFacts>()

/** Finds the socket of a request; null if the request came from a test and not from a connection. */
type FindServer = () => Parameters<UnreadBodies['respond']>[2]

/** Serves one request from its beginning to its end. */
type Serve = (request: Request) => unknown

/** Runs each request in the trace that it belongs to. Only a trusted proxy may say which. */
export function inTrace({ config }: Pick<AppContext, 'config'>, findServer: FindServer) {
  return (serve: Serve, request: Request): Serve => {
    const isTrusted = () => {
      const socketAddress = findServer()?.requestIP(request)?.address ?? ''
      const client = clientAddress(socketAddress, request.headers, config.trustedProxies)
      return isTrustedProxy(client, config.trustedProxies)
    }
    const trace = traceOfRequest(request.headers.get('traceparent'), isTrusted)
    return trace ? (arrived) => withTrace(trace, () => serve(arrived)) : serve
  }
}

/** Holds a response back until its request's body has been thrown away (`input/unread-body.ts`). */
export function answeringUnread(findServer: FindServer) {
  const unreadBodies = new UnreadBodies()
  return (serve: Serve, request: Request): Serve => {
    if (!mayStayUnread(request)) return serve
    return async (arrived) => {
      const response = await serve(arrived)
      const body = byRequest.get(arrived)?.incomingBody
      if (!body || !(response instanceof Response)) return response
      return unreadBodies.respond(body, response, findServer())
    }
  }
}

/**
 * Sets the headers that every response has.
 *
 * @param isLast true if the connection is to be closed with the response
 * @throws DomainError `not_found` or NotFoundError if Elysia would take the request's path for another one
 */
export function arrive(
  { request, set }: { request: Request; set: ResponseSettings },
  { config }: Pick<AppContext, 'config'>,
  isLast: boolean,
): void {
  if (isLast) set.headers.connection = 'close'
  Object.assign(set.headers, securityHeaders, config.tls && secureTransport)
  if (config.requestIds) set.headers['x-request-id'] = chooseRequestId(request.headers)
  requireReadablePath(request, config.tls !== null)
}

/** Returns the facts about a request that has just arrived. */
export function factsOnArrival(request: Request, { clock }: Pick<AppContext, 'clock'>): RequestFacts {
  const facts: RequestFacts = {
    startedAt: performance.now(),
    at: clock(),
    trace: currentTrace(),
    incomingBody: new IncomingBody(request),
    heldMilliseconds: 0,
  }
  if (mayStayUnread(request)) byRequest.set(request, facts)
  return facts
}

/**
 * States what Elysia's types do not know of a hook for all routes: every context has its request's facts.
 *
 * Such a hook names the parts of the context that it takes, and hands the context itself to nobody. Elysia reads the
 * hook's text to find out what it needs. If it hands its context on, Elysia copies the headers of every request, and
 * parses its cookies and its query, before the route begins.
 */
export function hook<Context extends object, Result>(
  run: (context: Context) => Result,
): (context: object) => Result {
  return run as (context: object) => Result
}

/** Index from which Elysia searches an `https:` URL for the start of its path. */
const shortestTlsPath = 11

/**
 * Refuses the requests whose path Elysia would take for another one.
 *
 * @throws DomainError `not_found` if the host name is so short that Elysia looks for the path in the wrong place;
 * NotFoundError for a deletion at a slash
 */
function requireReadablePath(request: Request, isTls: boolean): void {
  if (isTls && request.url.indexOf('/', 'https://'.length) < shortestTlsPath)
    throw new DomainError('not_found', 'This host name is not served')
  if (isDeletionAtSlash(request)) throw new NotFoundError()
}

/**
 * Returns true for a `DELETE` whose path ends in a slash. The runtime resolves dot segments before we see a path, and
 * Elysia ignores a slash at the end, so `DELETE /sandbox/webhooks/..`, with a wrong id, would clear the sandbox.
 */
function isDeletionAtSlash({ method, url }: Request): boolean {
  return method === 'DELETE' && new URL(url).pathname.endsWith('/')
}

import { currentTrace } from '../core/trace.ts'
import type { AppContext } from './context.ts'
import { IncomingBody } from './input/incoming-body.ts'
import { mayStayUnread } from './input/unread-body.ts'
import type { RequestFacts } from './request.ts'

/*
 * The facts about a request are one value, which is made here when the request arrives. Elysia hands it on, in its
 * context, to the pipeline and to the log.
 *
 * There is one exception: `app.wrap()`, which holds a response back until its request's body has been thrown away
 * (unread-body.ts), gets the `Request` alone and no context. So the facts about such a request can also be found by its
 * `Request`. Nothing else may look them up this way.
 */
const byRequest = new WeakMap<Request, RequestFacts>()

/** Returns the facts about a request whose body may stay unread, once it has arrived. */
export function factsOfUnread(request: Request): RequestFacts | undefined {
  return byRequest.get(request)
}

/** Adds the facts about a request that has just arrived to its context. */
export function addFacts(context: { request: Request }, { clock }: Pick<AppContext, 'clock'>): void {
  const { request } = context
  const facts: RequestFacts = {
    startedAt: performance.now(),
    at: clock(),
    trace: currentTrace(),
    incomingBody: new IncomingBody(request),
    heldMilliseconds: 0,
  }
  Object.assign(context, { facts })
  if (mayStayUnread(request)) byRequest.set(request, facts)
}

/** States what Elysia's types do not know: every context has its request's facts. */
export function withFacts<Context extends object>(context: Context): Context & { facts: RequestFacts } {
  return context as Context & { facts: RequestFacts }
}

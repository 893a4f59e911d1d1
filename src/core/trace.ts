import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Trace context (decisions §28). A trace follows a request to the database commands, jobs and hints that it causes.
 * `AsyncLocalStorage` carries the trace through asynchronous calls, so no function has to pass it on.
 */

/** A position in a trace. The methods exist only if the trace's spans are exported. */
export interface Trace {
  /** The position as a `traceparent` header, whose sampled flag reflects this service's decision. */
  readonly traceparent: string
  /** Starts a child span. Returns undefined if the request, job or hint has already ended. */
  begin?(name: string): Trace | undefined
  note?(facts: SpanFacts): void
  end?(hasFailed: boolean): void
}

/**
 * The only attributes that a span may have. Spans leave the service, so they never contain values that a client sent.
 */
export type SpanFacts = { [Id in 'key_id' | 'host_id' | 'status']?: number | null | undefined } & {
  request?: { method: string; route: string }
}

export interface SpanExport {
  /** Share of requests whose spans are exported, from 0 to 1. */
  sampleRatio: number
  /**
   * Starts the first span of a request, job or hint, as a child of the position `parent` or, if `parent` is null, in a
   * new trace.
   */
  begin(name: string, parent: string | null): Trace
}

/** Set while this process exports spans to a collector. */
let spans: SpanExport | undefined

export function exportSpans(to: SpanExport | undefined): void {
  spans = to
}

/**
 * Continues the trace in a request's `traceparent` header. Without a valid header, starts a trace if the request is
 * sampled, and otherwise returns undefined.
 *
 * @param isTrusted returns true if the client may decide, with the header's sampled flag, whether the request is traced
 */
export function traceOfRequest(header: string | null, isTrusted: () => boolean): Trace | undefined {
  const sent = header === null ? null : parseTraceparent(header)
  const isSampled = sent && isTrusted() ? sent.endsWith('1') : Math.random() < (spans?.sampleRatio ?? 0)
  if (spans && isSampled) return spans.begin('request', sent)
  return sent ? { traceparent: `${sent.slice(0, -1)}${isSampled ? 1 : 0}` } : undefined
}

/** Continues the trace that was stored with a job or a change. */
export function resumeTrace(stored: string | null | undefined, name: string): Trace | undefined {
  if (!stored) return undefined
  return spans && stored.endsWith('1') ? spans.begin(name, stored) : { traceparent: stored }
}

const form = /^([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-[0-9a-f]([0-9a-f])(-.*)?$/

/**
 * Converts a `traceparent` header to version 00, dropping any fields that later versions add. Returns null for a
 * malformed header.
 */
export function parseTraceparent(header: string): string | null {
  const [, version = 'ff', ids, flags = '', more] = form.exec(header) ?? []
  if (version === 'ff' || (version === '00' && more !== undefined)) return null
  return `00-${ids}-0${Number.parseInt(flags, 16) & 1}`
}

const traces = new AsyncLocalStorage<Trace | undefined>()

/** Returns the trace in which the caller runs; undefined outside a trace. */
export const currentTrace = () => traces.getStore()

/** Returns the current `traceparent`, to be stored with a change; null outside a trace. */
export const currentTraceparent = () => currentTrace()?.traceparent ?? null

/** Runs `work` in the given trace, or outside any trace if `trace` is undefined. */
export function withTrace<T>(trace: Trace | undefined, work: () => T): T {
  return traces.run(trace, work)
}

/** Runs `work` in the given trace and ends the trace's span when `work` settles. */
export async function inTrace<T>(trace: Trace | undefined, work: () => Promise<T>): Promise<T> {
  let hasFailed = true
  try {
    const result = await traces.run(trace, work)
    hasFailed = false
    return result
  } finally {
    trace?.end?.(hasFailed)
  }
}

/** Runs `work` in a child span if the caller's trace is exported. */
export function inSpan<T>(name: string, work: () => Promise<T>): Promise<T> {
  const trace = currentTrace()?.begin?.(name)
  return trace ? inTrace(trace, work) : work()
}

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import { serversOf, type TracingSettings } from '../core/config.ts'
import { exportSpans, type Trace } from '../core/trace.ts'
import { traceCommands } from '../platform/mongo/command-spans.ts'
import { withTimeoutOrNull } from '../platform/time-limits.ts'

/** Delay before a finished span is exported. */
const scheduledDelayMillis = 2000
/** Time limit for an export, including retries, and for the final export when the process stops (decisions §28). */
const timeoutMillis = 5000
/** Maximum number of spans waiting to be exported; further spans are dropped. */
const maxQueueSize = 2048

/** Span kinds by the first word of the span name. All other spans are internal. */
const kinds = { request: SpanKind.SERVER, redis: SpanKind.CLIENT, mongodb: SpanKind.CLIENT }
const kindOf = new Map(Object.entries(kinds))

/**
 * Exports spans over OTLP/HTTP, in batches. This file is loaded only if a collector is configured, because
 * OpenTelemetry's packages increase startup time and memory use.
 *
 * @returns a function that stops tracing and exports the remaining spans
 */
export function exportTraces({ url, headers, attributes, sampleRatio }: TracingSettings, log: Logger) {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis })
  const send = exporter.export.bind(exporter)
  const collector = serversOf(url)
  let isAway = false
  exporter.export = (spans, done) =>
    send(spans, (result) => {
      const { error } = result
      if (error && !isAway)
        log.warn({ collector, error: String(error) }, 'The collector does not accept spans')
      if (!error && isAway) log.info({ collector }, 'The collector accepts spans again')
      isAway = error !== undefined
      done(result)
    })
  const getRawAttributes = () => Object.entries(attributes)
  const resource: ReadableSpan['resource'] = { attributes, getRawAttributes, merge: () => resource }
  const batches = new BatchSpanProcessor({ exporter, maxQueueSize, scheduledDelayMillis })
  const provider = new TracerProvider({ resource, spanProcessors: [batches] })
  const tracer = provider.getTracer('partner-interface')

  /** @param whole state shared by all spans of a request, job or hint; none are added after the outermost span ends */
  function begin(name: string, above: string | null, whole?: { hasEnded: boolean }): Trace {
    const [, traceId = '', spanId = ''] = above?.split('-') ?? []
    const parent = { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: !whole }
    const kind = kindOf.get(name.split(' ', 1).join()) ?? SpanKind.INTERNAL
    const context = above ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
    const span = tracer.startSpan(name, { kind }, context)
    const own = span.spanContext()
    const traceparent = `00-${own.traceId}-${own.spanId}-01`
    const state = whole ?? { hasEnded: false }
    return {
      traceparent,
      begin: (below) => (state.hasEnded ? undefined : begin(below, traceparent, state)),
      note({ request, status, ...ids }) {
        if (request) span.updateName(`${request.method} ${request.route}`)
        if (request)
          span.setAttributes({ 'http.request.method': request.method, 'http.route': request.route })
        if (status) span.setAttribute('http.response.status_code', status)
        for (const [name, id] of Object.entries(ids)) if (id) span.setAttribute(`partner.${name}`, id)
      },
      end(hasFailed) {
        if (!whole) state.hasEnded = true
        if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR })
        span.end()
      },
    }
  }

  traceCommands()
  exportSpans({ sampleRatio, begin })
  return async () => {
    exportSpans(undefined)
    await withTimeoutOrNull(provider.shutdown(), timeoutMillis)
  }
}

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import { serversOf, type TracingSettings } from '../core/config.ts'
import { exportSpans, type Trace } from '../core/trace.ts'
import { traceCommands } from '../platform/mongo/driver/command-spans.ts'
import { withTimeoutOrNull } from '../platform/time-limits.ts'

/** Delay before a finished span is exported. */
const scheduledDelayMillis = 2000
/** Time limit for an export, including retries. */
const timeoutMillis = 5000
/** Time limit for the final export, after the process has finished its requests and jobs (decisions §28). */
const finalMilliseconds = 1000
/** Maximum number of spans waiting to be exported; further spans are dropped. */
const maxQueueSize = 2048

/** Span kinds by the first word of the span name. All other spans are internal. */
const kinds = { request: SpanKind.SERVER, redis: SpanKind.CLIENT, mongodb: SpanKind.CLIENT }
const kindOf = new Map(Object.entries(kinds))

/** The export of spans to a collector. */
export interface TraceExport {
  /** Starts to export the spans that wait, while the process finishes its requests. */
  flush(): void
  /** Stops tracing, and exports the remaining spans for at most 1 s. */
  close(): Promise<void>
}

/**
 * Exports spans over OTLP/HTTP, in batches. This file is loaded only if a collector is configured, because
 * OpenTelemetry's packages increase startup time and memory use.
 *
 * @param countDropped counts spans that no collector will get
 */
export function exportTraces(
  { url, headers, attributes, sampleRatio }: TracingSettings,
  log: Logger,
  countDropped: (spans: number) => void,
): TraceExport {
  const exporter = new OTLPTraceExporter({ url, headers, timeoutMillis })
  const send = exporter.export.bind(exporter)
  const collector = serversOf(url)
  let isAway = false
  /** Number of spans that wait to be exported. */
  let waiting = 0
  exporter.export = (spans, done) => {
    waiting -= spans.length
    send(spans, (result) => {
      const { error } = result
      if (error) countDropped(spans.length)
      if (error && !isAway)
        log.warn({ collector, error: String(error) }, 'The collector does not accept spans')
      if (!error && isAway) log.info({ collector }, 'The collector accepts spans again')
      isAway = error !== undefined
      done(result)
    })
  }
  const getRawAttributes = () => Object.entries(attributes)
  const resource: ReadableSpan['resource'] = { attributes, getRawAttributes, merge: () => resource }
  const batches = new BatchSpanProcessor({ exporter, maxQueueSize, scheduledDelayMillis })
  // The package itself drops spans beyond its limit without telling.
  const counted: SpanProcessor = {
    onStart: (span, context) => batches.onStart(span, context),
    onEnd(span) {
      if (waiting >= maxQueueSize) {
        countDropped(1)
        return
      }
      waiting += 1
      batches.onEnd(span)
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
  }
  const provider = new TracerProvider({ resource, spanProcessors: [counted] })
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
  return {
    flush() {
      // A failure is reported like that of any other export.
      batches.forceFlush().catch(() => {})
    },
    async close() {
      exportSpans(undefined)
      await withTimeoutOrNull(provider.shutdown(), finalMilliseconds)
    },
  }
}

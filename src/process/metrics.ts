import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import type { RequestMetrics } from '../http/context.ts'
import { roots } from '../http/roots.ts'
import { calendarErrors } from '../inventory/calendars/words.ts'
import { type Counts, joinExchange, type Membership } from './worker-metrics.ts'

let ofProcess: Metric[] | undefined

/**
 * Returns the metrics of the process itself, such as its memory. They are set up only once, however many services a
 * process opens, because that inspects the whole heap.
 */
function metricsOfProcess(): Metric[] {
  if (ofProcess) return ofProcess
  const registry = new Registry()
  // The default precision of 10 ms would keep waking an idle process.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1000 })
  ofProcess = registry
    .getMetricsAsArray()
    .map(({ name }) => registry.getSingleMetric(name))
    .filter((metric) => metric !== undefined)
  return ofProcess
}

const lagMin = 'nodejs_eventloop_lag_min_seconds'
/** The lag that a scrape measures itself, which needs no sample. */
const lagOfScrape = 'nodejs_eventloop_lag_seconds'
/** The runtime's minimum of no samples is 2^63 ns, about 292 years. */
const impossibleLagSeconds = 1e9

/**
 * Leaves out the statistics of the event loop's lag if it has not been sampled since the last scrape. Their minimum would
 * be 292 years, and their mean no number, also in the totals of several workers.
 */
function withoutUnsampledLag(metrics: MetricObjectWithValues<MetricValue<string>>[]): Counts {
  const minimum = metrics.find(({ name }) => name === lagMin)?.values[0]?.value ?? 0
  if (minimum < impossibleLagSeconds) return metrics
  const isStatistic = (name: string) => name.startsWith('nodejs_eventloop_lag_') && name !== lagOfScrape
  return metrics.map((metric) => (isStatistic(metric.name) ? { ...metric, values: [] } : metric))
}

/** Metrics that this process records; `scrape.ts` reads all other metrics on each scrape. */
export class Metrics implements RequestMetrics {
  private readonly registry = new Registry()
  private readonly registers = [this.registry]
  private readonly requests = new Histogram({
    name: 'http_request_seconds',
    help: 'Time to respond to a request',
    registers: this.registers,
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  private readonly commands = new Histogram({
    name: 'database_command_seconds',
    help: 'Duration of a database command, rounded to milliseconds',
    registers: this.registers,
    labelNames: ['command'],
    buckets: [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  })
  private readonly hits = new Histogram({
    name: 'redis_hit_seconds',
    help: 'Time for Redis to count a request',
    registers: this.registers,
    buckets: [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1],
  })
  private readonly deliveries = new Histogram({
    name: 'feed_delivery_seconds',
    help: 'Time from a change to the response to a waiting reader; up to 1 s too long, because versions are whole seconds',
    buckets: [0.5, 1, 1.5, 2, 5, 10, 30],
    registers: this.registers,
  })
  private readonly responses = this.counter(
    'api_responses_total',
    'Responses to requests to live data',
    ['2xx', '3xx', '4xx', '5xx'].map((status) => ({ class: status })),
  )
  private readonly decisions = this.counter('rate_limit_decisions_total', 'Requests by rate-limit decision', [
    ...['shared', 'local'].map((store) => ({ decision: 'allowed', store })),
    ...['shared', 'local'].map((store) => ({ decision: 'refused', store })),
  ])
  private readonly dropped = this.counter('request_log_dropped_total', 'Entries missing from request logs')
  private readonly droppedSpans = this.counter(
    'trace_spans_dropped_total',
    'Spans that were not exported, because the collector did not accept them or too many waited',
  )
  private readonly hints = this.counter('webhook_tries_total', 'Attempts to deliver a hint', [
    { result: 'delivered' },
    { result: 'failed' },
  ])
  private readonly calendarReadings = this.counter(
    'calendar_reads_total',
    'Attempts to read a calendar, by outcome',
    ['read', 'unchanged', ...calendarErrors.filter((error) => error !== 'limit')].map((outcome) => ({
      outcome,
    })),
  )
  private readonly own = async (): Promise<Counts> =>
    withoutUnsampledLag(await this.registry.getMetricsAsJSON())
  private workers: Membership | undefined

  /** @param held returns the number of requests that are currently held */
  constructor(held: () => number) {
    for (const metric of metricsOfProcess()) this.registry.registerMetric(metric)
    new Gauge({
      name: 'held_requests',
      help: 'Held polls that wait for a change',
      registers: this.registers,
      collect() {
        this.set(held())
      },
    })
  }

  /** Adds a gauge for the expiry time of this process's certificate (decisions §28). */
  showCertificateExpiry(at: Date): void {
    new Gauge({
      name: 'tls_certificate_expiry_timestamp_seconds',
      help: 'Time at which the TLS certificate expires, in seconds since 1970',
      registers: this.registers,
      aggregator: 'min',
    }).set(at.getTime() / 1000)
  }

  /** Creates a counter with all series set to 0, because `rate()` does not count the event that creates a series. */
  private counter(name: string, help: string, series: Record<string, string>[] = [{}]): Counter {
    const labelNames = Object.keys(series[0] ?? {})
    const counter = new Counter({ name, help, labelNames, registers: this.registers })
    for (const labels of series) counter.inc(labels, 0)
    return counter
  }

  /** Makes scrapes include the metrics of all the supervisor's workers. */
  joinWorkers(): void {
    this.workers = joinExchange(this.own)
  }

  /** Reports this process's final metrics before it exits, so that they remain in the supervisor's totals. */
  async leaveWorkers(): Promise<void> {
    await this.workers?.leave()
  }

  /** Returns the metrics of all workers combined, or this process's metrics if it has no supervisor. */
  async total(): Promise<Registry> {
    return AggregatorRegistry.aggregate((await this.workers?.gather()) ?? [await this.own()])
  }

  observeRequest(method: string, route: string, status: number, seconds: number): void {
    this.requests.observe({ method, route, status }, seconds)
    if (route.startsWith(`${roots.live}/`)) this.responses.inc({ class: `${Math.floor(status / 100)}xx` })
  }

  countDecision(isAllowed: boolean, isShared: boolean): void {
    this.decisions.inc({ decision: isAllowed ? 'allowed' : 'refused', store: isShared ? 'shared' : 'local' })
  }

  countDropped(entries: number): void {
    this.dropped.inc(entries)
  }

  countDroppedSpans(spans: number): void {
    this.droppedSpans.inc(spans)
  }

  countHint(isDelivered: boolean): void {
    this.hints.inc({ result: isDelivered ? 'delivered' : 'failed' })
  }

  countCalendarReading(outcome: string): void {
    this.calendarReadings.inc({ outcome })
  }

  observeDelivery(seconds: number): void {
    this.deliveries.observe(Math.max(0, seconds))
  }

  observeCommand(command: string, seconds: number): void {
    this.commands.observe({ command }, seconds)
  }

  /** Observes the time that a hit waited for Redis, even if the hit failed or timed out. */
  observeHit(seconds: number): void {
    this.hits.observe(seconds)
  }
}

import { AggregatorRegistry, type MetricObject } from 'prom-client'

/**
 * Multiple workers serve one port, so a scrape reaches only one of them. That worker asks the supervisor to collect the
 * counts of all workers.
 */

/** One worker's metrics, as its registry exports them. */
export type Counts = MetricObject[]

/** Message from a worker to its supervisor; a report for round 0 is the worker's last. */
export type FromWorker = 'listening' | { gather: number } | { reportOf: number; counts: Counts }
/** Message from a supervisor to a worker; `retire` means that the worker's successor is listening. */
export type ToWorker = { report: number } | { gathered: number; all: Counts[] } | { retire: true }

/** A worker that can receive messages. */
interface Reachable {
  send(message: ToWorker): void
}

const patienceMilliseconds = 1000

/**
 * The supervisor's side of the exchange. It asks all workers for their counts and waits up to a second. A total must
 * never decrease, because a scraper would mistake a decrease for a restart. The totals therefore include the last
 * report of any worker that does not respond, and the final counts of workers that have exited.
 */
export class CountsExchange<Worker extends Reachable> {
  private readonly reports = new Map<Worker, Counts>()
  private exitedCounts: Counts[] = []
  private readonly rounds = new Map<number, (worker: Worker) => void>()
  private lastRound = 0

  /** @param living returns the workers that are currently running */
  constructor(private readonly living: () => Worker[]) {}

  /** Handles messages about counts and ignores all others. */
  receive(message: FromWorker, from: Worker): void {
    if (message === 'listening') return
    if ('gather' in message) {
      this.gather().then(
        (all) => sendTo(from, { gathered: message.gather, all }),
        // The worker that asked stops waiting after 2 s and responds with its own counts.
        () => {},
      )
      return
    }
    this.reports.set(from, message.counts)
    this.rounds.get(message.reportOf)?.(from)
  }

  /** Keeps the final counts of a worker that has exited. Counts that cannot be added up are dropped. */
  async end(worker: Worker): Promise<void> {
    const last = this.reports.get(worker)
    this.reports.delete(worker)
    if (!last) return
    const sums = last.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')
    try {
      const all = [...this.exitedCounts, sums]
      this.exitedCounts = [await AggregatorRegistry.aggregate(all).getMetricsAsJSON()]
    } catch {
      // Workers of two releases may count differently while an upgrade replaces the program's files.
    }
  }

  private async gather(): Promise<Counts[]> {
    this.lastRound += 1
    const round = this.lastRound
    const missing = new Set(this.living())
    const { promise, resolve } = Promise.withResolvers<void>()
    this.rounds.set(round, (worker) => {
      missing.delete(worker)
      if (missing.size === 0) resolve()
    })
    for (const worker of missing) sendTo(worker, { report: round })
    await Promise.race([promise, Bun.sleep(patienceMilliseconds)])
    this.rounds.delete(round)
    return [...this.exitedCounts, ...this.reports.values()]
  }
}

/** Sends a message to a worker. Does nothing if the worker has just exited. */
export function sendTo(worker: Reachable, message: ToWorker): void {
  try {
    worker.send(message)
  } catch {
    // The worker has just exited.
  }
}

/** The worker's side of the exchange. */
export interface Membership {
  /** Returns the counts of all workers; only this worker's counts if the supervisor does not respond within 2 s. */
  gather(): Promise<Counts[]>
  /** Sends the final counts to the supervisor before this worker exits. */
  leave(): Promise<void>
}

/** Sends a message to the supervisor. Does nothing if this process has no supervisor. */
export function notifySupervisor(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}

const noRound = 0

/** Joins the exchange, so that this worker reports its counts when the supervisor asks for them. */
export function joinExchange(own: () => Promise<Counts>): Membership {
  const waiting = new Map<number, (all: Counts[]) => void>()
  const report = async (round: number) => notifySupervisor({ reportOf: round, counts: await own() })
  process.on('message', (message: ToWorker) => {
    // A worker that cannot report is left out, and the supervisor uses its previous report.
    if ('report' in message) report(message.report).catch(() => {})
    else if ('gathered' in message) waiting.get(message.gathered)?.(message.all)
  })
  let last = 0
  return {
    leave: () => report(noRound),
    async gather() {
      last += 1
      const number = last
      const { promise, resolve } = Promise.withResolvers<Counts[]>()
      waiting.set(number, resolve)
      notifySupervisor({ gather: number })
      const all = await Promise.race([promise, Bun.sleep(2 * patienceMilliseconds).then(() => [])])
      waiting.delete(number)
      return all.length > 0 ? all : [await own()]
    },
  }
}

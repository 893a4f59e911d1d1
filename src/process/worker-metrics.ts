import { AggregatorRegistry, type MetricObject } from 'prom-client'

/**
 * Several workers serve one port, so a scrape reaches any one of them: it asks the supervisor, which collects the
 * counts of all workers.
 */

/** The counts of one worker, as its registry exports them. */
export type Counts = MetricObject[]

/** Message of a worker to its supervisor; a report for round 0 is its last. */
export type FromWorker = 'listening' | { gather: number } | { reportOf: number; counts: Counts }
/** Message of a supervisor to a worker, which retires when its successor is listening. */
export type ToWorker = { report: number } | { gathered: number; all: Counts[] } | { retire: true }

/** A worker that messages can be sent to. */
interface Reachable {
  send(message: ToWorker): void
}

const patienceMilliseconds = 1000

/**
 * The supervisor's part: asks all workers, and responds with what arrives within a second. A sum must never fall, or
 * it would look like a restart: for a worker that does not respond its last report is used, and for one that exited
 * its final counts.
 */
export class CountsExchange<Worker extends Reachable> {
  private readonly reports = new Map<Worker, Counts>()
  private ofEnded: Counts[] = []
  private readonly rounds = new Map<number, (worker: Worker) => void>()
  private lastRound = 0

  /** @param living returns the workers that are running now */
  constructor(private readonly living: () => Worker[]) {}

  /** Handles messages about counts and ignores all others. */
  receive(message: FromWorker, from: Worker): void {
    if (message === 'listening') return
    if ('gather' in message) {
      this.gather().then((all) => sendTo(from, { gathered: message.gather, all }))
      return
    }
    this.reports.set(from, message.counts)
    this.rounds.get(message.reportOf)?.(from)
  }

  /** Keeps what a worker counted during its life. */
  async end(worker: Worker): Promise<void> {
    const last = this.reports.get(worker)
    this.reports.delete(worker)
    if (!last) return
    const sums = last.filter(({ type }) => String(type) === 'counter' || String(type) === 'histogram')
    this.ofEnded = [await AggregatorRegistry.aggregate([...this.ofEnded, sums]).getMetricsAsJSON()]
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
    return [...this.ofEnded, ...this.reports.values()]
  }
}

/** Sends a message to a worker that may just have exited. */
export function sendTo(worker: Reachable, message: ToWorker): void {
  try {
    worker.send(message)
  } catch {
    // It has just exited.
  }
}

/** A worker's part. */
export interface Membership {
  /** Gathers the counts of all workers. */
  gather(): Promise<Counts[]>
  /** Sends the final counts to the supervisor, before this worker exits. */
  leave(): Promise<void>
}

/** Sends a message to this process's supervisor, if there is one running. */
export function notifySupervisor(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}

const noRound = 0

/** Joins the exchange: from now on this worker reports when asked. */
export function joinExchange(own: () => Promise<Counts>): Membership {
  const waiting = new Map<number, (all: Counts[]) => void>()
  const report = async (round: number) => notifySupervisor({ reportOf: round, counts: await own() })
  process.on('message', (message: ToWorker) => {
    if ('report' in message) report(message.report)
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

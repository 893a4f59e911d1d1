import { AggregatorRegistry, type MetricObject } from 'prom-client'

/**
 * Several workers serve one port, so a scrape meets any one of them: it asks the supervisor, which asks all
 * workers for what they counted.
 */

/** What one worker counted, as its registry gives it. */
export type Counts = MetricObject[]

/** What a worker says to its supervisor; a report of no round is its last. */
export type FromWorker = 'listening' | { gather: number } | { reportOf: number; counts: Counts }
/** What a worker is told; it retires when its successor listens. */
export type ToWorker = { report: number } | { gathered: number; all: Counts[] } | { retire: true }

/** A worker as it is reached. */
interface Reachable {
  send(message: ToWorker): void
}

const patienceMilliseconds = 1000

/**
 * The supervisor's part: asks all workers, and answers with what came within a second. A sum must never fall,
 * or it would be read as a fresh start: of a worker that does not answer the last report stands, and of one
 * that ended what it had counted by then.
 */
export class CountsExchange<Worker extends Reachable> {
  private readonly reports = new Map<Worker, Counts>()
  private ofEnded: Counts[] = []
  private readonly rounds = new Map<number, (worker: Worker) => void>()
  private lastRound = 0

  /** @param living the workers that live now */
  constructor(private readonly living: () => Worker[]) {}

  /** Takes a message about counts; leaves others alone. */
  receive(message: FromWorker, from: Worker): void {
    if (message === 'listening') return
    if ('gather' in message) {
      this.gather().then((all) => sendTo(from, { gathered: message.gather, all }))
      return
    }
    this.reports.set(from, message.counts)
    this.rounds.get(message.reportOf)?.(from)
  }

  /** Keeps what a worker counted in its life. */
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

/** Sends a message to a worker that may have just ended. */
export function sendTo(worker: Reachable, message: ToWorker): void {
  try {
    worker.send(message)
  } catch {
    // It has just ended.
  }
}

/** A worker's part. */
export interface Membership {
  /** Gathers the counts of all workers. */
  gather(): Promise<Counts[]>
  /** Leaves the last word with the supervisor, before this worker ends. */
  leave(): Promise<void>
}

/** A message to the supervisor of this process, where there is one that lives. */
export function notifySupervisor(message: FromWorker): void {
  if (process.connected) process.send?.(message)
}

const noRound = 0

/** Reports when asked, from here on. */
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

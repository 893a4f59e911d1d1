import type { MetricObject } from 'prom-client'

/**
 * Several workers serve one port, so a scrape meets any one of them: it asks the supervisor, which asks all
 * workers for what they counted.
 */

/** What one worker counted, as its registry gives it. */
export type Counts = MetricObject[]

/** What a worker says to its supervisor. */
export type FromWorker = 'listening' | { gather: number } | { reportOf: number; counts: Counts }
/** What a worker is told. */
export type ToWorker = { report: number } | { gathered: number; all: Counts[] }

/** A worker as it is reached. */
interface Reachable {
  send(message: ToWorker): void
}

const patienceMilliseconds = 1000

/** The supervisor's part: asks all workers, and answers with what came within a second. */
export class CountsExchange {
  private rounds = new Map<number, (counts: Counts) => void>()
  private lastRound = 0

  /** @param workers those that live now */
  constructor(private readonly workers: () => Reachable[]) {}

  /** Takes a message about counts; leaves others alone. */
  receive(message: FromWorker, from: Reachable): void {
    if (message === 'listening') return
    if ('gather' in message)
      this.gather().then((all) => reach(from, { gathered: message.gather, all }), ignore)
    else this.rounds.get(message.reportOf)?.(message.counts)
  }

  private async gather(): Promise<Counts[]> {
    this.lastRound += 1
    const round = this.lastRound
    const asked = this.workers()
    const all: Counts[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    this.rounds.set(round, (counts) => {
      all.push(counts)
      if (all.length === asked.length) resolve()
    })
    for (const worker of asked) reach(worker, { report: round })
    await Promise.race([promise, Bun.sleep(patienceMilliseconds)])
    this.rounds.delete(round)
    return all
  }
}

function reach(worker: Reachable, message: ToWorker): void {
  try {
    worker.send(message)
  } catch {
    // It ended meanwhile, and what it counted with it.
  }
}

const ignore = () => {}

/** A worker's part: reports when asked. Gives the function that gathers the counts of all workers. */
export function joinExchange(own: () => Promise<Counts>): () => Promise<Counts[]> {
  const send = process.send?.bind(process) as (message: FromWorker) => void
  const waiting = new Map<number, (all: Counts[]) => void>()
  process.on('message', async (message: ToWorker) => {
    if ('report' in message) send({ reportOf: message.report, counts: await own() })
    else waiting.get(message.gathered)?.(message.all)
  })
  let last = 0
  return async () => {
    last += 1
    const number = last
    const { promise, resolve } = Promise.withResolvers<Counts[]>()
    waiting.set(number, resolve)
    send({ gather: number })
    const all = await Promise.race([promise, Bun.sleep(2 * patienceMilliseconds).then(() => [])])
    waiting.delete(number)
    return all.length > 0 ? all : [await own()]
  }
}

import { toVersion } from '../../src/host-clock/format.ts'
import { median } from './measure.ts'

/** A server under load, and the processes whose CPU time is measured. */
export interface Target {
  url: string
  /** Returns the next request; each write may need its own body or header. */
  init(count: number): RequestInit
  /** The processes of the server itself. */
  pids: number[]
  /** The processes of the database and Redis, which serve only this target while it is measured. */
  stores: number[]
}

/** The measurements of a target. */
export interface Load {
  perSecond: number
  /** Milliseconds from the request to the last byte of its response. */
  p50: number
  p99: number
  /** Microseconds of CPU per request: for the server alone, and including the database and Redis. */
  cpu: number
  cpuOfAll: number
}

/** The measurements of a burst, with the duration of every request. */
interface Burst extends Omit<Load, 'p50' | 'p99'> {
  times: number[]
}

const ticksPerSecond = 100

/** Returns the CPU time that processes have used, in seconds; the kernel counts it in hundredths. */
export async function cpuSeconds(pids: number[]): Promise<number> {
  let ticks = 0
  for (const pid of pids) {
    const stat = await Bun.file(`/proc/${pid}/stat`).text()
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / ticksPerSecond
}

/** Returns the resident memory of processes in MiB. */
export async function residentMebibytes(pids: number[]): Promise<number> {
  let kibibytes = 0
  for (const pid of pids) {
    const status = await Bun.file(`/proc/${pid}/status`).text()
    kibibytes += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
  }
  return kibibytes / 1024
}

/** Enough connections to keep one process busy. */
export const manyConnections = 16

/**
 * Sends requests over the given number of connections until `goesOn` returns false.
 *
 * @throws Error for a response other than 2xx, because such a request is not the work to be measured
 */
export async function burst(
  { url, init, pids, stores }: Target,
  goesOn: (sent: number) => boolean,
  connections = manyConnections,
): Promise<Burst> {
  const times: number[] = []
  let sent = 0
  const ownBefore = await cpuSeconds(pids)
  const storesBefore = await cpuSeconds(stores)
  const start = performance.now()
  const client = async () => {
    while (goesOn(sent)) {
      const begun = performance.now()
      const response = await fetch(url, init(sent++))
      const body = await response.text()
      if (!response.ok) throw new Error(`${url} responded ${response.status}: ${body}`)
      times.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  const seconds = (performance.now() - start) / 1000
  const own = (await cpuSeconds(pids)) - ownBefore
  const all = own + (await cpuSeconds(stores)) - storesBefore
  return { perSecond: sent / seconds, cpu: (own / sent) * 1e6, cpuOfAll: (all / sent) * 1e6, times }
}

/**
 * Returns a version after everything that a bench has stored, for polls that wait for news. Beyond five minutes, it would
 * count as ahead of the feed (decisions §9).
 */
export function afterEverything(): string {
  return encodeURIComponent(toVersion(new Date(Date.now() + 240_000)))
}

/** Duration of the warm-up of a newly started server, which has not compiled its code yet. */
const warmUpMilliseconds = 3000
const warm = new Set<string>()

async function warmUp(target: Target, connections: number): Promise<void> {
  if (warm.has(target.url)) return
  warm.add(target.url)
  await burst(target, until(warmUpMilliseconds), connections)
}

export function until(milliseconds: number): () => boolean {
  const end = performance.now() + milliseconds
  return () => performance.now() < end
}

/** Runs one-second bursts against the targets in turn, so that changes in the machine's speed affect them equally. */
export async function compare<Name extends string>(
  targets: Record<Name, Target>,
  rounds: number,
  connections = manyConnections,
): Promise<Record<Name, Load>> {
  const names = Object.keys(targets) as Name[]
  const all = new Map(names.map((name): [Name, Burst[]] => [name, []]))
  for (const name of names) await warmUp(targets[name], connections)
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      all.get(name)?.push(await burst(targets[name], until(1000), connections))
    }
  }
  const entries = names.map((name) => [name, summary(all.get(name) as Burst[])])
  return Object.fromEntries(entries) as Record<Name, Load>
}

function summary(bursts: Burst[]): Load {
  const times = bursts.flatMap((burst) => burst.times).sort((a, b) => a - b)
  return {
    perSecond: median(bursts.map(({ perSecond }) => perSecond)),
    p50: times[Math.floor(times.length * 0.5)] as number,
    p99: times[Math.floor(times.length * 0.99)] as number,
    cpu: median(bursts.map(({ cpu }) => cpu)),
    cpuOfAll: median(bursts.map(({ cpuOfAll }) => cpuOfAll)),
  }
}

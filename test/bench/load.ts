/** Something that responds to requests, and the processes whose CPU time it takes. */
export interface Target {
  url: string
  init?: RequestInit
  pids: number[]
}

/** How a target did in a burst. */
export interface Burst {
  perSecond: number
  cpuMicroseconds: number
  /** Responses other than 2xx. */
  bad: number
}

const ticksPerSecond = 100

/** The CPU time that processes have used so far, in seconds; the kernel counts it in hundredths. */
async function cpuSeconds(pids: number[]): Promise<number> {
  let ticks = 0
  for (const pid of pids) {
    const stat = await Bun.file(`/proc/${pid}/stat`).text()
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks / ticksPerSecond
}

/** The resident memory of processes in MiB. */
export async function residentMebibytes(pids: number[]): Promise<number> {
  let kibibytes = 0
  for (const pid of pids) {
    const status = await Bun.file(`/proc/${pid}/status`).text()
    kibibytes += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
  }
  return kibibytes / 1024
}

/** Enough to keep one process busy. */
const manyConnections = 16

/** Sends requests over some connections while `goesOn` says so. */
export async function burst(
  { url, init, pids }: Target,
  goesOn: (sent: number) => boolean,
  connections = manyConnections,
): Promise<Burst> {
  let [sent, bad] = [0, 0]
  const [cpuBefore, start] = [await cpuSeconds(pids), performance.now()]
  const client = async () => {
    while (goesOn(sent)) {
      sent += 1
      const response = await fetch(url, init)
      await response.arrayBuffer()
      if (!response.ok) bad += 1
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  const seconds = (performance.now() - start) / 1000
  return {
    perSecond: sent / seconds,
    cpuMicroseconds: (((await cpuSeconds(pids)) - cpuBefore) / sent) * 1_000_000,
    bad,
  }
}

/** The medians of several one-second bursts at each target, in turns. */
export async function compare<Name extends string>(
  targets: Record<Name, Target>,
  rounds: number,
  connections = manyConnections,
): Promise<Record<Name, Burst>> {
  const names = Object.keys(targets) as Name[]
  const all = new Map(names.map((name): [Name, Burst[]] => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const end = performance.now() + 1000
      const result = await burst(targets[name], () => performance.now() < end, connections)
      // The first round warms up.
      if (round > 0) all.get(name)?.push(result)
    }
  }
  const entries = names.map((name) => [name, medians(all.get(name) as Burst[])])
  return Object.fromEntries(entries) as Record<Name, Burst>
}

function medians(bursts: Burst[]): Burst {
  const median = (of: (burst: Burst) => number) =>
    bursts.map(of).sort((a, b) => a - b)[Math.floor(bursts.length / 2)] as number
  return {
    perSecond: median(({ perSecond }) => perSecond),
    cpuMicroseconds: median(({ cpuMicroseconds }) => cpuMicroseconds),
    bad: bursts.reduce((sum, { bad }) => sum + bad, 0),
  }
}

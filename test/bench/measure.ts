import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Runs a benchmark with its own data directory, which is deleted afterwards. */
export async function withDataDir<T>(work: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'partner-bench-'))
  try {
    return await work(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

export function median(samples: number[]): number {
  return samples.sort((a, b) => a - b)[Math.floor(samples.length / 2)] as number
}

/** Returns the duration of one run in milliseconds. */
export async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

/** Returns each run's median duration. The runs take turns, so that changes in machine speed affect them equally. */
export async function medianMilliseconds<Name extends string>(
  runs: Record<Name, () => Promise<unknown>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(runs) as Name[]
  const samples = new Map(names.map((name): [Name, number[]] => [name, []]))
  for (let round = 0; round < rounds; round += 1)
    for (const name of names) samples.get(name)?.push(await timed(runs[name]))
  const entries = names.map((name) => [name, median(samples.get(name) as number[])])
  return Object.fromEntries(entries) as Record<Name, number>
}

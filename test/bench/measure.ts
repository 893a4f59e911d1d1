import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/deps.ts'
import type { Db } from '../../src/infra/mongo.ts'

/** A database of its own for a bench, gone afterwards. */
export async function withDatabase(
  work: (context: { db: Db; config: Config }) => Promise<void>,
): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'partner-bench-'))
  const config = readConfig({ DATA_DIR: dataDir })
  const { db, close } = await openDatabase(config)
  try {
    await work({ db, config })
  } finally {
    await close()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** The median time of each run, all of them taken in turns so that a drifting machine drifts for all. */
export async function medianMilliseconds(
  runs: (() => Promise<unknown>)[],
  rounds: number,
): Promise<number[]> {
  const times = runs.map((): number[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, run] of runs.entries()) {
      const start = performance.now()
      await run()
      times[index]?.push(performance.now() - start)
    }
  }
  return times.map((samples) => samples.sort((a, b) => a - b)[Math.floor(samples.length / 2)] as number)
}

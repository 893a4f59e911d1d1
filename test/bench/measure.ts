import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/compose.ts'
import { type Config, readConfig } from '../../src/config.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'

/** One line of the table: a measured ratio and what it should be. */
export interface Row {
  measure: string
  ratio: number
  aim: string
  /** Absent without an aim. */
  holds?: boolean
  /** The figures behind the ratio, with their units. */
  figures: string
}

/** A line whose ratio should not be greater than `limit`. */
export function atMost(measure: string, ratio: number, limit: number, figures: string): Row {
  return { measure, ratio: rounded(ratio), aim: `≤ ${limit}`, holds: ratio <= limit, figures }
}

/** A line whose ratio should not be less than `limit`. */
export function atLeast(measure: string, ratio: number, limit: number, figures: string): Row {
  return { measure, ratio: rounded(ratio), aim: `≥ ${limit}`, holds: ratio >= limit, figures }
}

/** A line without an aim. */
export function noted(measure: string, ratio: number, figures: string): Row {
  return { measure, ratio: rounded(ratio), aim: '', figures }
}

/** Describes two times in milliseconds, the measured one first. */
export function times(reference: number, measured: number): string {
  return `${measured.toFixed(2)} ms against ${reference.toFixed(2)} ms`
}

function rounded(ratio: number): number {
  return Math.round(ratio * 100) / 100
}

/** Gives a bench its own data directory, deleted afterwards. */
export async function withDataDir<T>(work: (dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = await mkdtemp(join(tmpdir(), 'partner-bench-'))
  try {
    return await work(dataDir)
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Gives a bench its own database, deleted afterwards. */
export function withDatabase<T>(work: (context: { db: Db; config: Config }) => Promise<T>): Promise<T> {
  return withDataDir(async (dataDir) => {
    const config = readConfig({ DATA_DIR: dataDir })
    const { db, close } = await openDatabase(config)
    try {
      return await work({ db, config })
    } finally {
      await close()
    }
  })
}

export function median(samples: number[]): number {
  return samples.sort((a, b) => a - b)[Math.floor(samples.length / 2)] as number
}

/** The median time of each run. The runs take turns, so that a drifting machine drifts for all of them. */
export async function medianMilliseconds<Name extends string>(
  runs: Record<Name, () => Promise<unknown>>,
  rounds: number,
): Promise<Record<Name, number>> {
  const names = Object.keys(runs) as Name[]
  const samples = new Map(names.map((name): [Name, number[]] => [name, []]))
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) {
      const start = performance.now()
      await runs[name]()
      samples.get(name)?.push(performance.now() - start)
    }
  }
  const entries = names.map((name) => [name, median(samples.get(name) as number[])])
  return Object.fromEntries(entries) as Record<Name, number>
}

/** Whether `bin/soak` is running, which repeats some files of `bin/test` with more of everything and new seeds. */
export const isSoak = process.env.IS_SOAK === '1'

/** How many times more work a soak does than continuous integration, such as `SOAK=20 bin/soak` for a night. */
export const soakFactor = Number(process.env.SOAK ?? 1)

/** How often a property is tried: with fixed seeds, or in a soak more often with new seeds. */
export function runs(count: number): { numRuns: number; seed?: number } {
  return isSoak ? { numRuns: count * 5 * soakFactor } : { numRuns: count, seed: 20_261_122 }
}

/** The milliseconds that some work takes. */
export async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** The slowest of some repetitions, in milliseconds; a promise about time is compared with it in the same run. */
export async function controlOf(work: () => Promise<unknown>, repetitions = 20): Promise<number> {
  let slowest = 0
  for (let count = 0; count < repetitions; count += 1) slowest = Math.max(slowest, await millisecondsOf(work))
  return slowest
}

/** True under `bin/soak`, which reruns some of the `bin/test` files with more of everything and with new seeds. */
export const isSoak = process.env.IS_SOAK === '1'

/** Factor by which a soak does more work than in continuous integration, for example `SOAK=20 bin/soak` overnight. */
export const soakFactor = Number(process.env.SOAK ?? 1)

/** Returns how often a property is checked: with a fixed seed, or more often and with new seeds in a soak. */
export function runs(count: number): { numRuns: number; seed?: number } {
  return isSoak ? { numRuns: count * 5 * soakFactor } : { numRuns: count, seed: 20_261_122 }
}

/** Returns the milliseconds that some work takes. */
export async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Returns the slowest of some repetitions in milliseconds, with which the run compares promised times. */
export async function controlOf(work: () => Promise<unknown>, repetitions = 20): Promise<number> {
  let slowest = 0
  for (let count = 0; count < repetitions; count += 1) slowest = Math.max(slowest, await millisecondsOf(work))
  return slowest
}

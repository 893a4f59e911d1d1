/** True under `bin/soak`, which reruns some of the `bin/test` files more thoroughly and with new seeds. */
export const isSoak = process.env.IS_SOAK === '1'

/** Factor that multiplies a soak's work, for example `SOAK=20 bin/soak` overnight; 1 in continuous integration. */
export const soakFactor = Number(process.env.SOAK ?? 1)

/**
 * Returns how often to check a property: with a fixed seed, or, in a soak, more often and with new seeds.
 *
 * @param inSoak how often in a soak, for a property whose checks take so long that `bin/test` has only a few
 */
export function runs(count: number, inSoak = count * 5): { numRuns: number; seed?: number } {
  return isSoak ? { numRuns: inSoak * soakFactor } : { numRuns: count, seed: 20_261_122 }
}

/** Returns the duration of some work in milliseconds. */
export async function millisecondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Returns the duration of the slowest repetition in milliseconds. Tests scale their time limits by it. */
export async function controlOf(work: () => Promise<unknown>, repetitions = 20): Promise<number> {
  let slowest = 0
  for (let count = 0; count < repetitions; count += 1) slowest = Math.max(slowest, await millisecondsOf(work))
  return slowest
}

/** The first number from 0 on, below `count`, that is not taken; undefined where all are. */
export function firstFree(taken: Iterable<number>, count: number): number | undefined {
  const all = new Set(taken)
  return Array.from({ length: count }, (_, index) => index).find((index) => !all.has(index))
}

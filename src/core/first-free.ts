/** Returns the lowest number from 0 to `count - 1` that is not taken, or undefined if all are taken. */
export function firstFree(taken: Iterable<number>, count: number): number | undefined {
  const all = new Set(taken)
  return Array.from({ length: count }, (_, index) => index).find((index) => !all.has(index))
}

import { createHash } from 'node:crypto'

/** A whole number from `minimum` to `maximum` that a seed and a name decide: the same course for the same seed. */
export function draw(seed: string, name: string, minimum: number, maximum: number): number {
  const drawn = createHash('sha256').update(`${seed}/${name}`).digest().readUInt32BE(0)
  return minimum + (drawn % (maximum - minimum + 1))
}

import { blockSizes, type IdSource, type SequenceName } from '../../core/sequences.ts'
import type { Db } from '../mongo/connection.ts'
import { nextIds } from './sequences.ts'

/** Ids that a process has reserved but not yet used. */
interface Block {
  next: number
  end: number
}

/**
 * Returns an id source that uses a database's sequences. Ids of some kinds are reserved in blocks, so a process that
 * exits leaves gaps.
 */
export function sequenceIds(db: Db): IdSource {
  const blocks = new Map<SequenceName, Block>()
  const refills = new Map<SequenceName, Promise<void>>()
  const refill = async (name: SequenceName, size: number) => {
    const next = await nextIds(db, name, size)
    blocks.set(name, { next, end: next + size })
  }
  return async (name, amount = 1) => {
    const size = blockSizes[name] ?? 0
    if (amount > size) return nextIds(db, name, amount)
    for (;;) {
      const block = blocks.get(name)
      if (block && block.end - block.next >= amount) {
        block.next += amount
        return block.next - amount
      }
      const refilling = refills.get(name) ?? refill(name, size).finally(() => refills.delete(name))
      refills.set(name, refilling)
      await refilling
    }
  }
}

/** Returns an id source that uses the given id for each sequence in `given`, and `ids` for all other sequences. */
export function withIds(ids: IdSource, given: Partial<Record<SequenceName, number>>): IdSource {
  return async (name, amount) => given[name] ?? ids(name, amount)
}

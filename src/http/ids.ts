import { nextIds as nextIdsOf } from '../platform/ids/sequences.ts'
import type { Db } from '../platform/mongo/connection.ts'

/** The kinds of ids, each with its own sequence. */
export const sequenceNames = [
  'host',
  'key',
  'user',
  'listing',
  'room_type',
  'room',
  'booking',
  'message',
  'availability_row',
  'rate_job',
  'webhook',
  'certification',
  'alarm',
] as const
export type SequenceName = (typeof sequenceNames)[number]

/** Allocates `amount` consecutive ids and returns the first. */
export type IdSource = (name: SequenceName, amount?: number) => Promise<number>

/**
 * Number of ids that a process reserves at a time, for kinds that are needed in large numbers. Nothing depends on the
 * order of these ids across processes.
 */
const blockSizes: Partial<Record<SequenceName, number>> = {
  booking: 32,
  message: 32,
  user: 32,
  rate_job: 32,
  availability_row: 2000,
}

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
    const next = await nextIdsOf(db, name, size)
    blocks.set(name, { next, end: next + size })
  }
  return async (name, amount = 1) => {
    const size = blockSizes[name] ?? 0
    if (amount > size) return nextIdsOf(db, name, amount)
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

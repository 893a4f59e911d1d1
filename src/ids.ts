import { nextIds as nextIdsOf } from './platform/ids/sequences.ts'
import type { Db } from './platform/mongo/connection.ts'

/** What ids are given out for, each from a sequence of its own. */
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
] as const
export type SequenceName = (typeof sequenceNames)[number]

/** Gives the first of `amount` consecutive ids. */
export type IdSource = (name: SequenceName, amount?: number) => Promise<number>

/** Of these many are created; nothing depends on whether an id of one process is above that of another. */
const inBlocks: ReadonlySet<SequenceName> = new Set(['booking', 'message', 'user', 'rate_job'])
const blockSize = 32

/** Ids from the sequences of a database. Some are taken in blocks; a process that ends leaves the rest as gaps. */
export function sequenceIds(db: Db): IdSource {
  const left = new Map<SequenceName, number[]>()
  const refills = new Map<SequenceName, Promise<void>>()
  const refill = async (name: SequenceName) => {
    const first = await nextIdsOf(db, name, blockSize)
    left.set(
      name,
      Array.from({ length: blockSize }, (_, index) => first + index),
    )
  }
  return async (name, amount) => {
    if (amount !== undefined || !inBlocks.has(name)) return nextIdsOf(db, name, amount)
    for (;;) {
      const id = left.get(name)?.shift()
      if (id !== undefined) return id
      const refilling = refills.get(name) ?? refill(name).finally(() => refills.delete(name))
      refills.set(name, refilling)
      await refilling
    }
  }
}

import { nextIds as nextIdsOf } from '../platform/ids/sequences.ts'
import type { Db } from '../platform/mongo/connection.ts'

/** The kinds of ids, each with a sequence of its own. */
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
] as const
export type SequenceName = (typeof sequenceNames)[number]

/** Gives the first of `amount` consecutive ids. */
export type IdSource = (name: SequenceName, amount?: number) => Promise<number>

/**
 * Of these many are created, and nothing depends on whether an id of one process is above that of another: so many are
 * taken at once.
 */
const blockSizes: Partial<Record<SequenceName, number>> = {
  booking: 32,
  message: 32,
  user: 32,
  rate_job: 32,
  availability_row: 2000,
}

/** Ids that a process has taken and not given yet. */
interface Block {
  next: number
  end: number
}

/** Ids from the sequences of a database. Some are taken in blocks; a process that ends leaves the rest as gaps. */
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

/** An id source that gives out these ids first. */
export function withIds(ids: IdSource, given: Partial<Record<SequenceName, number>>): IdSource {
  return async (name, amount) => given[name] ?? ids(name, amount)
}

const id = /^[1-9]\d{0,15}$/

/** True for the digits of a positive integer below 2^53. */
export const isIdText = (text: string) => id.test(text) && Number.isSafeInteger(Number(text))

/** A path id as a number, or undefined unless it is a positive integer below 2^53. */
export function parsePathId(value: string | undefined): number | undefined {
  return value !== undefined && isIdText(value) ? Number(value) : undefined
}

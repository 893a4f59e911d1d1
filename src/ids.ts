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
] as const
export type SequenceName = (typeof sequenceNames)[number]

/** Gives the first of `amount` consecutive ids. */
export type IdSource = (name: SequenceName, amount?: number) => Promise<number>

/** Ids from the sequences of a database. */
export function sequenceIds(db: Db): IdSource {
  return (name, amount) => nextIdsOf(db, name, amount)
}

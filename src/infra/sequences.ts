import { Schema } from 'mongoose'
import { type Db, isDuplicate, modelOf } from './mongo.ts'

interface Sequence {
  _id: string
  value: number
}

export const sequenceModel = modelOf<Sequence>(
  'sequences',
  new Schema<Sequence>({ _id: { type: String, required: true }, value: { type: Number, required: true } }),
)

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
  return (name, amount) => nextIds(db, name, amount)
}

/**
 * Takes `amount` consecutive ids and gives the first. Never inside a transaction, where all writers would
 * queue on the sequence; an id that is then not used stays a gap.
 */
export async function nextIds(db: Db, name: SequenceName, amount = 1): Promise<number> {
  for (;;) {
    try {
      const { value } = await sequenceModel(db)
        .findOneAndUpdate({ _id: name }, { $inc: { value: amount } }, { upsert: true, new: true })
        .lean()
        .orFail()
      return value - amount + 1
    } catch (error) {
      // Two first takers may both try to insert: the loser finds the document on its next try.
      if (!isDuplicate(error)) throw error
    }
  }
}

import { modelOf } from '../mongo/collections.ts'
import type { Db } from '../mongo/connection.ts'
import { retryDuplicate } from '../mongo/errors.ts'
import { field, schemaOf } from '../mongo/fields.ts'

export const sequenceModel = modelOf('sequences', schemaOf({ _id: field.text, value: field.number }))

/**
 * Allocates `amount` consecutive ids and returns the first. It takes no session, because if it were part of a
 * transaction, all writers would wait for one another. Ids that are never used leave gaps.
 */
export async function nextIds(db: Db, name: string, amount = 1): Promise<number> {
  const { value } = await retryDuplicate(() =>
    sequenceModel(db)
      .findOneAndUpdate({ _id: name }, { $inc: { value: amount } }, { upsert: true, new: true })
      .lean()
      .orFail(),
  )
  return value - amount + 1
}

/** Returns the last id allocated from each sequence, by the sequence's name. */
export async function readSequences(db: Db): Promise<Record<string, number>> {
  const sequences = await sequenceModel(db).find().lean()
  return Object.fromEntries(sequences.map(({ _id, value }) => [_id, value]))
}

/** Skips `amount` ids in each sequence. Returns each sequence's last skipped id, by the sequence's name. */
export async function moveSequencesAhead(
  db: Db,
  names: readonly string[],
  amount: number,
): Promise<Record<string, number>> {
  const ends = await Promise.all(
    names.map(async (name) => [name, (await nextIds(db, name, amount)) + amount - 1] as const),
  )
  return Object.fromEntries(ends)
}

/** Raises sequences to at least `value`, which is either one number for all sequences or a number for each name. */
export async function raiseSequences(
  db: Db,
  names: readonly string[],
  value: number | Record<string, number>,
): Promise<void> {
  await Promise.all(
    names.map((name) =>
      retryDuplicate(() =>
        sequenceModel(db)
          .updateOne(
            { _id: name },
            { $max: { value: typeof value === 'number' ? value : (value[name] ?? 0) } },
            { upsert: true },
          )
          .exec(),
      ),
    ),
  )
}

import type { Model } from 'mongoose'
import { dropIndex } from './collections.ts'
import type { Db } from './connection.ts'

/** A step from one version of what is stored to the next. */
export interface Migration {
  /** The version afterwards: one more than before. */
  version: number
  /** What it does, for example `Add the host to stored responses`. */
  name: string
  /** How many documents it still has to change. */
  remaining(db: Db): Promise<number>
  /**
   * Changes them. It may be interrupted, run again and run in several processes, and the release before serves
   * meanwhile: so it only adds what that release does not look at.
   */
  run(db: Db): Promise<void>
  /** Indexes that only the release before needs, by collection; dropped when the migration is finished. */
  retiredIndexes: Record<string, string[]>
}

/** What a migration does to documents. */
export type MigrationPart = Pick<Migration, 'remaining' | 'run'>

/** Several parts as one, carried out one after the other. */
export function partsTogether(parts: MigrationPart[]): MigrationPart {
  return {
    async remaining(db) {
      const counts = await Promise.all(parts.map((part) => part.remaining(db)))
      return counts.reduce((sum, count) => sum + count, 0)
    },
    async run(db) {
      for (const part of parts) await part.run(db)
    },
  }
}

/**
 * Fills in fields of the documents that lack one of them.
 *
 * @param lacking the field by which they are recognized
 * @param obsolete indexes that refuse what this release stores, and so go at once
 */
export function fillMissing<T>(
  modelOfDb: (db: Db) => Model<T>,
  lacking: keyof T & string,
  fill: (document: T) => Partial<T>,
  obsolete: string[] = [],
): MigrationPart {
  const without = { [lacking]: { $exists: false } }
  return {
    remaining: (db) => modelOfDb(db).collection.countDocuments(without),
    async run(db) {
      const { collection } = modelOfDb(db)
      for await (const document of collection.find(without))
        await collection.updateOne({ _id: document._id }, { $set: fill(document as T) })
      const present = (await collection.indexes()).flatMap(({ name }) => name ?? [])
      for (const name of obsolete.filter((one) => present.includes(one))) await dropIndex(collection, name)
    },
  }
}

import type { Db } from '../../platform/mongo/connection.ts'
import type { MigrationPart } from '../../platform/mongo/migration.ts'
import { storedResponseModel } from './model.ts'

const hostless = { host_id: { $exists: false } }

/**
 * Adds the host to the stored responses that name their key only.
 *
 * @param hostOf looks up the host of a key
 */
export function upgradeStoredResponses(hostOf: (db: Db, keyId: number) => Promise<number>): MigrationPart {
  return {
    remaining: (db) => storedResponseModel(db).countDocuments(hostless),
    async run(db) {
      const keys: number[] = await storedResponseModel(db).collection.distinct('key_id', hostless)
      for (const key_id of keys) {
        const host_id = await hostOf(db, key_id)
        await storedResponseModel(db).updateMany({ key_id, ...hostless }, { $set: { host_id } })
      }
    },
  }
}

import { earlierAvailability } from './availability/upgrade.ts'
import { upgradeStoredResponses } from './http/idempotency/upgrade.ts'
import { findKeyIfAny } from './keys/store.ts'
import { upgradeListings } from './listings/upgrade.ts'
import type { Db } from './platform/mongo/connection.ts'
import { upgradeLocks } from './platform/mongo/locks.ts'
import { type Migration, partsTogether } from './platform/mongo/migration.ts'
import { upgradeUsers } from './users/upgrade.ts'

/** In the sandbox a scope takes the place of both key and host. */
async function hostOfKey(db: Db, keyId: number): Promise<number> {
  return (await findKeyIfAny(db, keyId))?.host_id ?? keyId
}

/**
 * Every change of what is stored, oldest first. A release adds one where it stores something in another way, and never
 * changes or removes one that was released (CONTRIBUTING, "Change what is stored").
 */
export const migrations: Migration[] = [
  {
    version: 1,
    name: 'Convert what was stored before there were schema versions',
    ...partsTogether([upgradeUsers, upgradeListings, earlierAvailability]),
    retiredIndexes: {},
  },
  {
    version: 2,
    name: 'Add the host to stored responses and locks',
    ...partsTogether([upgradeStoredResponses(hostOfKey), upgradeLocks]),
    retiredIndexes: { idempotency_answers: ['answer_claim'], walk_pages: ['walk_page', 'walk_host'] },
  },
]

import { addSecret, endSecrets, type MintedKey } from '../../src/access/keys/store.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'

/** Gives a key a new secret, as `keys rotate` does. The previous one keeps working for `overlapSeconds`. */
export async function rotateKey(
  db: Db,
  clock: Clock,
  idOrPrefix: string,
  overlapSeconds: number,
): Promise<MintedKey & { previousExpiresAt: Date }> {
  const { key, record, previous } = await addSecret(db, idOrPrefix)
  const previousExpiresAt = new Date(clock().getTime() + overlapSeconds * 1000)
  await endSecrets(db, record.id, previous, previousExpiresAt)
  return { key, record, previousExpiresAt }
}

/** A key in the right form that no service knows. */
export const wellFormedKey = `pis_${'x'.repeat(38)}`

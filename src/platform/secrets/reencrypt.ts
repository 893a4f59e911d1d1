import type { mongo } from 'mongoose'
import type { Sealed, SecretBox } from './secret-box.ts'

/** Encrypts all that a collection holds under the current secret; what another process has just changed stays as it left it. */
export async function reencryptAll(
  { collection }: { collection: unknown },
  secrets: SecretBox,
): Promise<void> {
  const stored = collection as mongo.Collection<Sealed & { _id: string }>
  for await (const one of stored.find())
    if (!secrets.isCurrent(one))
      await stored.updateOne({ _id: one._id, sealed: one.sealed }, { $set: secrets.seal(secrets.open(one)) })
}

import type { Deps } from '../deps.ts'
import { hostClockModel } from '../infra/host-clock.ts'
import { type Db, isDuplicate } from '../infra/mongo.ts'
import { sequenceModel, sequenceNames } from '../infra/sequences.ts'
import { models } from '../models.ts'
import { type Sandbox, sandboxModel } from './model.ts'
import { seedSandbox } from './seed.ts'

type Store = Pick<Deps, 'db' | 'clock' | 'config' | 'ids'>

/** Lifetime of a sandbox (contract, Limits). */
const lifetimeMilliseconds = 3_600_000

/** Ids that the sandbox gives out begin above those of the contract and the fixtures. */
const firstFreeId = 10_000

/** The database of all sandboxes, beside the live one. */
export function sandboxDatabase(live: Db): Db {
  return live.useDb(`${live.name}_sandbox`, { useCache: true })
}

/** Readies the sandbox database at start. */
export async function prepareSandbox(db: Db): Promise<void> {
  await Promise.all(
    sequenceNames.map((name) =>
      sequenceModel(db).updateOne({ _id: name }, { $max: { value: firstFreeId } }, { upsert: true }),
    ),
  )
}

/**
 * The scope of a key's sandbox; filled from the fixtures on first use, after an hour, and after it was
 * cleared. The old scope is out of reach from that moment, and its documents are swept away.
 */
export async function openSandbox(store: Store, keyId: number): Promise<number> {
  const { db, clock, ids } = store
  const known = await sandboxModel(db).findById(keyId).lean()
  if (known && known.expires_at > clock()) return known.scope
  const scope = await ids('host')
  await seedSandbox(store, scope)
  const opened: Sandbox = {
    _id: keyId,
    scope,
    expires_at: new Date(clock().getTime() + lifetimeMilliseconds),
  }
  const isOurs = await replace(db, known, opened)
  await forgetScope(db, isOurs ? known?.scope : scope)
  return isOurs ? scope : openSandbox(store, keyId)
}

/** False when another first use was faster. */
async function replace(db: Db, known: Sandbox | null, opened: Sandbox): Promise<boolean> {
  try {
    if (!known) return Boolean(await sandboxModel(db).create(opened))
    const { modifiedCount } = await sandboxModel(db).updateOne(
      { _id: known._id, scope: known.scope },
      { $set: opened },
    )
    return modifiedCount === 1
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** Clears the sandbox of one key: its next request finds a fresh one. */
export async function clearSandbox(db: Db, keyId: number): Promise<void> {
  const cleared = await sandboxModel(db).findOneAndDelete({ _id: keyId }).lean()
  await forgetScope(db, cleared?.scope)
}

/** Clears the sandboxes of all keys; gives how many there were. */
export async function clearAllSandboxes(db: Db): Promise<number> {
  const all = await sandboxModel(db).find().lean()
  for (const { _id } of all) await clearSandbox(db, _id)
  return all.length
}

/** Sweeps away the sandboxes whose hour is over. */
export async function sweepSandboxes({ db, clock }: Pick<Store, 'db' | 'clock'>): Promise<void> {
  for (const { _id } of await sandboxModel(db)
    .find({ expires_at: { $lte: clock() } })
    .lean())
    await clearSandbox(db, _id)
}

async function forgetScope(db: Db, scope: number | undefined): Promise<void> {
  if (scope === undefined) return
  for (const model of models)
    await model(db).collection.deleteMany({ $or: [{ host_id: scope }, { key_id: scope }] })
  await hostClockModel(db).deleteOne({ _id: scope })
}

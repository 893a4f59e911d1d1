import type { FilterQuery } from 'mongoose'
import {
  type ActivityStorage,
  activityFields,
  activityOf,
  activityUpdates,
  noActivity,
} from '../activity/stored-fields.ts'
import type { Db } from '../platform/mongo/connection.ts'
import type { FaultRule } from './faults/rule.ts'
import { type Sandbox, sandboxModel } from './model.ts'

/** Returns the database that holds all sandboxes, which is separate from the live database. */
export function sandboxDatabase(live: Db): Db {
  return live.useDb(`${live.name}_sandbox`, { useCache: true })
}

/** The fields of an open sandbox that a request reads. */
export type OpenSandbox = Pick<
  Sandbox,
  '_id' | 'documents' | 'bytes' | 'ahead_seconds' | 'rules' | 'rules_id' | 'observer_id'
>

/**
 * Returns a key's open sandbox, or null.
 *
 * @param now current time; null if this process's clock is wrong, in which case no sandbox counts as expired
 */
export function findOpen(db: Db, keyId: number, now: Date | null): Promise<OpenSandbox | null> {
  const filter = { key_id: keyId, state: 'open', ...(now ? { due_at: { $gt: now } } : {}) }
  const projection = { documents: 1, bytes: 1, ahead_seconds: 1, rules: 1, rules_id: 1, observer_id: 1 }
  return sandboxModel(db).collection.findOne(filter, { projection }) as Promise<OpenSandbox | null>
}

/** Returns true if a sandbox is open. An expired sandbox stays open until it is swept. */
export async function isOpen(db: Db, sandboxId: number): Promise<boolean> {
  return (await sandboxModel(db).exists({ _id: sandboxId, state: 'open' })) !== null
}

/** Stores a sandbox's record, which must exist before any of the sandbox's documents. */
export async function insertFilling(db: Db, sandbox: Omit<Sandbox, 'state'>): Promise<void> {
  await sandboxModel(db).create([{ ...sandbox, state: 'filling' }])
}

/** Opens a filled sandbox to requests. Fails with a duplicate-key error if the key already has an open sandbox. */
export async function openFilled(db: Db, sandboxId: number, dueAt: Date): Promise<void> {
  const opened = { state: 'open', due_at: dueAt } as const
  await sandboxModel(db).updateOne({ _id: sandboxId, state: 'filling' }, { $set: opened })
}

/** Adds to an open sandbox's size, and extends its lifetime to `dueAt`. */
export async function addGrowth(
  db: Db,
  sandboxId: number,
  growth: Pick<Sandbox, 'documents' | 'bytes'>,
  dueAt: Date,
): Promise<void> {
  await sandboxModel(db).updateOne(
    { _id: sandboxId, state: 'open' },
    { $max: { due_at: dueAt }, $inc: { ...growth } },
  )
}

/** Extends an open sandbox's lifetime to `dueAt` if it would end before `unless`. */
export async function extendLifetime(db: Db, sandboxId: number, dueAt: Date, unless: Date): Promise<void> {
  await sandboxModel(db).updateOne(
    { _id: sandboxId, state: 'open', due_at: { $lt: unless } },
    { $set: { due_at: dueAt } },
  )
}

/** Raises the upper bound on the number of documents in a sandbox. */
export async function addDocuments(db: Db, sandboxId: number, documents: number): Promise<void> {
  await sandboxModel(db).updateOne({ _id: sandboxId }, { $inc: { documents } })
}

/** Replaces the upper bound on the number of documents in a sandbox. */
export async function setDocuments(db: Db, sandboxId: number, documents: number): Promise<void> {
  await sandboxModel(db).updateOne({ _id: sandboxId }, { $set: { documents } })
}

/** Selects sandboxes. */
export type SandboxFilter = FilterQuery<Sandbox>

/** Returns the matching sandboxes, whatever their state. */
export function findSandboxes(db: Db, which: SandboxFilter): Promise<Sandbox[]> {
  return sandboxModel(db).find(which).lean()
}

/**
 * Marks a sandbox as ended if it still matches `which`. Returns false if it no longer matches.
 *
 * @param sweepAt time of its final sweep
 */
export async function markEnded(
  db: Db,
  sandboxId: number,
  which: SandboxFilter,
  sweepAt: Date,
): Promise<boolean> {
  const { modifiedCount } = await sandboxModel(db).updateOne(
    { ...which, _id: sandboxId },
    { $set: { state: 'ended', due_at: sweepAt } },
  )
  return modifiedCount > 0
}

/** Deletes an ended sandbox's record, after the last of its documents. */
export async function deleteEnded(db: Db, sandboxId: number): Promise<void> {
  await sandboxModel(db).deleteOne({ _id: sandboxId, state: 'ended' })
}

type Ahead = Pick<Sandbox, '_id' | 'ahead_seconds'>

/** Returns the open sandboxes whose clocks are ahead, optionally only those of the given sandboxes. */
export function findAhead(db: Db, sandboxIds?: number[]): Promise<Ahead[]> {
  const which = sandboxIds ? { _id: { $in: sandboxIds } } : {}
  return sandboxModel(db)
    .find({ ...which, state: 'open', ahead_seconds: { $gt: 0 } }, { ahead_seconds: 1 })
    .lean()
}

/**
 * Moves a sandbox's clock ahead and returns its new offset. Returns null if the offset would exceed `maximum` seconds,
 * or if the sandbox is not open.
 */
export function moveAhead(
  db: Db,
  sandboxId: number,
  seconds: number,
  maximum: number,
): Promise<Ahead | null> {
  const mayMove = { _id: sandboxId, state: 'open', ahead_seconds: { $lte: maximum - seconds } } as const
  return sandboxModel(db)
    .findOneAndUpdate(
      mayMove,
      { $inc: { ahead_seconds: seconds } },
      { new: true, projection: { ahead_seconds: 1 } },
    )
    .lean()
}

/** A sandbox's rules, with an id that shows whether they have been replaced since they were read. */
export type Rules = Pick<Sandbox, '_id' | 'rules' | 'rules_id' | 'observer_id'>

/** Returns the rules of an open sandbox, or null if the sandbox is not open. */
export function findRules(db: Db, sandboxId: number): Promise<Rules | null> {
  const fields = { rules: 1, rules_id: 1, observer_id: 1 }
  return sandboxModel(db).findOne({ _id: sandboxId, state: 'open' }, fields).lean()
}

/** Replaces all rules of an open sandbox if `observerId` is its current observer; null means no observer. */
export async function replaceRules(
  db: Db,
  sandboxId: number,
  rules: FaultRule[],
  observerId: number | null = null,
): Promise<void> {
  const change = { rules, rules_id: crypto.randomUUID() }
  await sandboxModel(db).updateOne(
    { _id: sandboxId, state: 'open', observer_id: observerId },
    { $set: change },
  )
}

/** Starts a timed rule, unless it has already started or the rules have been replaced. */
export async function startTimedRule(
  db: Db,
  { _id, rules_id }: Rules,
  index: number,
  until: Date,
): Promise<void> {
  const end = `rules.${index}.until`
  await sandboxModel(db).updateOne({ _id, state: 'open', rules_id, [end]: null }, { $set: { [end]: until } })
}

/**
 * Takes one from a counter of a counted rule. Returns false if the counter is used up or the rules have been replaced.
 */
export async function countDown(
  db: Db,
  { _id, rules_id }: Rules,
  index: number,
  counter: keyof FaultRule['left'],
): Promise<boolean> {
  const ofRule = { _id, state: 'open', rules_id } as const
  const left = `rules.${index}.left.${counter}`
  const { modifiedCount } = await sandboxModel(db).updateOne(
    { ...ofRule, [left]: { $gt: 0 } },
    { $inc: { [left]: -1 } },
  )
  return modifiedCount === 1
}

/** Starts observing a sandbox. */
export async function beginObservation(db: Db, sandboxId: number, observerId: number): Promise<void> {
  await sandboxModel(db).updateOne({ _id: sandboxId, state: 'open' }, { $set: { observer_id: observerId } })
}

/** Stops observing a key's open sandbox and removes its rules, if `observerId` is still the sandbox's observer. */
export async function endObservation(db: Db, keyId: number, observerId: number): Promise<void> {
  await sandboxModel(db).updateOne(
    { key_id: keyId, state: 'open', observer_id: observerId },
    { $set: { observer_id: null, rules: [], rules_id: crypto.randomUUID() } },
  )
}

/** Stores what keys have done in their sandboxes, in the sandboxes' own documents. */
export function sandboxActivityStorage(db: Db): ActivityStorage {
  return {
    idOf: ({ ownerId }) => ownerId,
    async write(activity) {
      const updates = [...activity].flatMap(([_id, ofSandbox]) =>
        activityUpdates({ _id, state: 'open' }, ofSandbox),
      )
      await sandboxModel(db).collection.bulkWrite(updates)
    },
    async find(readers) {
      const _id = { $in: readers.map(({ ownerId }) => ownerId) }
      const found = await sandboxModel(db).find({ _id }, storedActivity).lean()
      const stored = new Map(found.map((sandbox) => [sandbox._id, sandbox]))
      return readers.map(({ ownerId }) => activityOf(stored.get(ownerId) ?? noActivity))
    },
  }
}

const storedActivity = Object.fromEntries(Object.keys(activityFields).map((name) => [name, 1]))

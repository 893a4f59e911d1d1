import { notFound } from '../../core/errors.ts'
import type { Caller } from '../../http/request.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { isDuplicate } from '../../platform/mongo/errors.ts'
import type { FeedName } from '../feeds.ts'
import { type Consumer, consumerModel } from './model.ts'

/** The consumers that a key has in one feed of an owner. */
export interface ConsumerSet {
  owner_id: number
  key_id: number
  feed: FeedName
}

/** Returns the set of the caller's consumers of a feed. */
export function consumerSetOf(
  { ownerId, keyId }: Pick<Caller, 'ownerId' | 'keyId'>,
  feed: FeedName,
): ConsumerSet {
  return { owner_id: ownerId, key_id: keyId, feed }
}

/** Returns a set's consumers, sorted by name. The number of slots limits the length of the list. */
export function listConsumers(db: Db, set: ConsumerSet): Promise<Consumer[]> {
  return consumerModel(db).find(set, { _id: 0 }).sort({ name: 1 }).lean()
}

/** Returns the consumers of several keys, in any order. */
export function findConsumersOfKeys(
  db: Db,
  readers: { ownerId: number; keyId: number }[],
): Promise<Consumer[]> {
  const owner_id = { $in: [...new Set(readers.map(({ ownerId }) => ownerId))] }
  const key_id = { $in: readers.map(({ keyId }) => keyId) }
  return consumerModel(db).find({ owner_id, key_id }, { _id: 0 }).lean()
}

/** Returns the consumer with this name, or null. */
export function findConsumerIfAny(db: Db, set: ConsumerSet, name: string): Promise<Consumer | null> {
  return consumerModel(db)
    .findOne({ ...set, name }, { _id: 0 })
    .lean()
}

/**
 * Returns the consumer with this name.
 *
 * @throws DomainError `not_found`
 */
export async function findConsumer(db: Db, set: ConsumerSet, name: string): Promise<Consumer> {
  const consumer = await findConsumerIfAny(db, set, name)
  if (!consumer) throw notFound('Consumer')
  return consumer
}

/** Stores a new consumer. Returns false if its name or slot is already taken. */
export async function insertConsumer(db: Db, consumer: Consumer): Promise<boolean> {
  try {
    await consumerModel(db).create(consumer)
    return true
  } catch (error) {
    if (isDuplicate(error)) return false
    throw error
  }
}

/** The fields that identify a consumer. */
type ConsumerName = ConsumerSet & Pick<Consumer, 'name'>

/** Moves a consumer forward to a version. Returns false if the consumer is not behind it, or is gone. */
export async function moveConsumerForward(
  db: Db,
  { owner_id, key_id, feed, name }: ConsumerName,
  to: { acknowledged: Date; acknowledged_at: Date },
): Promise<boolean> {
  const behind = { $or: [{ acknowledged: null }, { acknowledged: { $lt: to.acknowledged } }] }
  const { matchedCount } = await consumerModel(db).updateOne(
    { owner_id, key_id, feed, name, ...behind },
    { $set: { ...to, progressed_at: to.acknowledged_at } },
  )
  return matchedCount > 0
}

/** Moves a consumer to a position that is not ahead of it, or to the beginning of the feed. That is no progress. */
export async function moveConsumerBack(
  db: Db,
  { owner_id, key_id, feed, name }: ConsumerName,
  to: Pick<Consumer, 'acknowledged' | 'acknowledged_at'>,
): Promise<void> {
  await consumerModel(db).updateOne({ owner_id, key_id, feed, name }, { $set: to })
}

/**
 * Deletes a consumer.
 *
 * @throws DomainError `not_found`
 */
export async function deleteConsumer(db: Db, set: ConsumerSet, name: string): Promise<void> {
  const { deletedCount } = await consumerModel(db).deleteOne({ ...set, name })
  if (deletedCount === 0) throw notFound('Consumer')
}

/** Yields the consumers of all hosts in batches. */
export async function* consumerBatches(db: Db): AsyncGenerator<Consumer[]> {
  let batch: Consumer[] = []
  for await (const consumer of consumerModel(db).find({}, { _id: 0 }).lean().cursor()) {
    batch.push(consumer)
    if (batch.length < consumersPerBatch) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

const consumersPerBatch = 500

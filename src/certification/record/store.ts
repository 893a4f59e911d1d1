import type { Db } from '../../platform/mongo/connection.ts'
import {
  type DeliveredVersion,
  deliveredVersionModel,
  type RequestRecord,
  requestRecordModel,
} from './model.ts'

/** Stores the record of a request. */
export async function insertRecord(db: Db, record: RequestRecord): Promise<void> {
  await requestRecordModel(db).collection.insertOne(record)
}

/** Returns a certification's recorded requests except the first `after` requests, in order of arrival. */
export async function findRecords(db: Db, certificationId: number, after: number): Promise<RequestRecord[]> {
  const records = await requestRecordModel(db)
    .find({ certification_id: certificationId, ordinal: { $gt: after } })
    .sort({ ordinal: 1 })
    .lean()
  // Ordinals follow the order in which requests were answered, not the order in which they arrived.
  return records.sort((one, other) => one.at.getTime() - other.at.getTime())
}

/**
 * Operations that are not attributed to the product, because the console and the command line call them while a product
 * is running.
 */
const ignoredOperations = ['bookings', 'messages'].map(
  (feed) => `GET /sandbox/integrations/:provider/${feed}/consumers`,
)

/** Returns the product's last answered request in a certification, or null. */
export function findLastRecord(db: Db, certificationId: number): Promise<RequestRecord | null> {
  return requestRecordModel(db)
    .findOne({ certification_id: certificationId, operation: { $nin: ignoredOperations } })
    .sort({ ordinal: -1 })
    .lean()
}

/** Stores the deliveries that are not stored yet, and returns the number of new deliveries. */
export async function storeDeliveries(db: Db, deliveries: Omit<DeliveredVersion, '_id'>[]): Promise<number> {
  const withIds = deliveries.map((delivery) => ({ ...delivery, _id: deliveryId(delivery) }))
  const known = await findKnown(
    db,
    withIds.map(({ _id }) => _id),
  )
  // Another request may store the same deliveries concurrently, so these writes are upserts.
  const upserts = withIds
    .filter(({ _id }) => !known.has(_id))
    .map(({ _id, ...delivery }) => ({
      updateOne: { filter: { _id }, update: { $setOnInsert: delivery }, upsert: true },
    }))
  if (upserts.length === 0) return 0
  const stored = await deliveredVersionModel(db).collection.bulkWrite(upserts, { ordered: false })
  return stored.upsertedCount
}

/** Returns the bookings whose current version has been delivered to the product. */
export async function findDelivered<T extends { id: number; updated_at: Date }>(
  db: Db,
  certificationId: number,
  bookings: T[],
): Promise<T[]> {
  const idOf = ({ id, updated_at }: T) =>
    deliveryId({ certification_id: certificationId, booking_id: id, version: updated_at })
  const known = await findKnown(db, bookings.map(idOf))
  return bookings.filter((booking) => known.has(idOf(booking)))
}

/** Returns all deliveries of a certification, older versions first. */
export function findDeliveries(db: Db, certificationId: number): Promise<DeliveredVersion[]> {
  return deliveredVersionModel(db).find({ certification_id: certificationId }).sort({ version: 1 }).lean()
}

/** Deletes a certification's recorded requests and deliveries. */
export async function deleteRecords(db: Db, certificationId: number): Promise<void> {
  const ofRun = { certification_id: certificationId }
  await Promise.all([requestRecordModel(db).deleteMany(ofRun), deliveredVersionModel(db).deleteMany(ofRun)])
}

function deliveryId({
  certification_id,
  booking_id,
  version,
}: Pick<DeliveredVersion, 'certification_id' | 'booking_id' | 'version'>): string {
  return `${certification_id}/${booking_id}/${version.getTime()}`
}

/** Returns the subset of delivery ids that are already stored. */
async function findKnown(db: Db, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const found = await deliveredVersionModel(db)
    .find({ _id: { $in: ids } }, { _id: 1 })
    .lean()
  return new Set(found.map(({ _id }) => _id))
}

import { createHmac } from 'node:crypto'
import { stringify } from 'safe-stable-stringify'
import type { Db } from '../platform/mongo/connection.ts'
import type { Observed } from '../sandbox/visit.ts'
import {
  certificationModel,
  type Delivery,
  deliveryModel,
  type RequestRecord,
  requestRecordModel,
} from './model.ts'
import { type DeliveredBooking, deliveredBookings, readPagePlace, sizeOfWrite } from './observed.ts'
import { isGood } from './reads.ts'

/** Maximum number of requests recorded for a run. Further requests are only counted. */
const maxRecords = 5000
/** Time after which records expire if their run was never ended properly. */
const keptMilliseconds = 5 * 3_600_000

/** Records a request of a running certification. */
export async function recordRequest(
  db: Db,
  certificationId: number,
  seen: Observed,
  now: Date,
): Promise<void> {
  const counted = await certificationModel(db)
    .findOneAndUpdate(
      { _id: certificationId, status: 'running' },
      { $inc: { requests: 1 } },
      { projection: { requests: 1, secret: 1 } },
    )
    .lean()
  if (!counted?.secret || counted.requests >= maxRecords) return
  const { secret } = counted
  const hash = (value: string) => createHmac('sha256', secret).update(value).digest('base64url')
  const { operation, at, status, requestId } = seen
  const { body, idempotencyKey } = seen.sent ?? {}
  const page = await readPagePlace(db, seen)
  const fault = seen.fault ?? realFault(status)
  const expires_at = new Date(now.getTime() + keptMilliseconds)
  const isDelivered = isGood({ status, fault })
  await requestRecordModel(db).collection.insertOne({
    certification_id: certificationId,
    ordinal: counted.requests + 1,
    ...{ operation, at, answered_at: now, request_id: requestId, status, fault, ...sizeOfWrite(seen) },
    delivered: isDelivered
      ? await storeDeliveries(db, certificationId, deliveredBookings(seen), expires_at)
      : 0,
    is_page: page !== null,
    is_first: page?.isFirst ?? false,
    from: page?.from ?? null,
    body_hash: body === undefined ? null : hash(stringify(body) ?? ''),
    key_hash: idempotencyKey === undefined ? null : hash(idempotencyKey),
    expires_at,
  })
}

/** Treats a real refusal like the fault that simulates it. */
function realFault(status: number): string | null {
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'internal_error' : null
}

const deliveryId = (certificationId: number, bookingId: number, version: Date) =>
  `${certificationId}/${bookingId}/${version.getTime()}`

/** Stores the deliveries that the run does not have yet, and returns their number. */
async function storeDeliveries(
  db: Db,
  certificationId: number,
  bookings: DeliveredBooking[],
  expires_at: Date,
): Promise<number> {
  const delivered = new Map(
    bookings.map(({ id, ...booking }): [string, Delivery] => {
      const _id = deliveryId(certificationId, id, booking.version)
      return [_id, { _id, certification_id: certificationId, booking_id: id, ...booking, expires_at }]
    }),
  )
  for (const { _id } of await findByIds(db, [...delivered.keys()])) delivered.delete(_id)
  const fresh = [...delivered.values()]
  // Another request may have stored the same deliveries meanwhile, so these are upserts.
  if (fresh.length > 0)
    await deliveryModel(db).collection.bulkWrite(
      fresh.map((one) => ({
        replaceOne: { filter: { _id: one._id }, replacement: one, upsert: true },
      })) as never,
      { ordered: false },
    )
  return fresh.length
}

function findByIds(db: Db, ids: string[]): Promise<Pick<Delivery, '_id'>[]> {
  return ids.length === 0
    ? Promise.resolve([])
    : deliveryModel(db)
        .find({ _id: { $in: ids } }, { _id: 1 })
        .lean()
}

/** Returns the bookings whose version has been delivered to the product. */
export async function findDelivered<T extends { id: number; updated_at: Date }>(
  db: Db,
  certificationId: number,
  bookings: T[],
): Promise<T[]> {
  const idOf = ({ id, updated_at }: T) => deliveryId(certificationId, id, updated_at)
  const given = new Set((await findByIds(db, bookings.map(idOf))).map(({ _id }) => _id))
  return bookings.filter((booking) => given.has(idOf(booking)))
}

/** Returns all deliveries of a run. */
export function findDeliveries(db: Db, certificationId: number): Promise<Delivery[]> {
  return deliveryModel(db).find({ certification_id: certificationId }).lean()
}

/** Returns a run's requests without the first `after` ones, in order of arrival. */
export async function findRecords(db: Db, certificationId: number, after: number): Promise<RequestRecord[]> {
  const records = await requestRecordModel(db)
    .find({ certification_id: certificationId, ordinal: { $gt: after } })
    .sort({ ordinal: 1 })
    .lean()
  // Ordinals follow the order in which requests were answered, not the order in which they arrived.
  return records.sort((one, other) => one.at.getTime() - other.at.getTime())
}

/** Deletes all requests and deliveries of a run. */
export async function deleteRecords(db: Db, certificationId: number): Promise<void> {
  const ofRun = { certification_id: certificationId }
  await Promise.all([requestRecordModel(db).deleteMany(ofRun), deliveryModel(db).deleteMany(ofRun)])
}

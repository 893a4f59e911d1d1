import { createHmac } from 'node:crypto'
import { stringify } from 'safe-stable-stringify'
import { notFound } from '../core/errors.ts'
import type { AppContext } from '../http/context.ts'
import { keepNewest } from '../platform/mongo/collections.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { endObservation } from '../sandbox/rules-store.ts'
import type { Observed } from '../sandbox/visit.ts'
import { casesOf } from './course/cases.ts'
import { hasSucceeded } from './course/step.ts'
import {
  type Case,
  type Certification,
  certificationModel,
  type DeliveredVersion,
  deliveredVersionModel,
  type Next,
  type RequestRecord,
  requestRecordModel,
  type Step,
} from './model.ts'
import {
  type DeliveredBooking,
  deliveredBookings,
  readPagePosition,
  sizeOfWrite,
} from './record/recording.ts'

/** Number of ended certifications that are kept for each key. */
const keptOfKey = 20

/** What is known of a certification when it starts. */
type NewCertification = Pick<
  Certification,
  '_id' | 'key_id' | 'host_id' | 'seed' | 'profiles' | 'started_at' | 'secret'
>

/** How long a certification is kept. */
const certificationKeptMilliseconds = 396 * 86_400_000

/** Returns a new certification, whose sandbox is not filled yet. */
export function newCertification(start: NewCertification): Certification {
  return {
    _id: start._id,
    key_id: start.key_id,
    host_id: start.host_id,
    sandbox_id: null,
    seed: start.seed,
    profiles: start.profiles,
    status: 'running',
    started_at: start.started_at,
    ended_at: null,
    cases: casesOf(start.profiles).map((name) => ({
      name,
      status: 'waiting',
      because: null,
      request_ids: [],
    })),
    step: null,
    next: null,
    facts: {},
    secret: start.secret,
    requests: 0,
    revision: 0,
    sweep_at: null,
    expires_at: new Date(start.started_at.getTime() + certificationKeptMilliseconds),
  }
}

/** What is known of a step when it begins. */
interface NewStep extends Pick<Step, 'index' | 'after' | 'memo'> {
  now: Date
}

/** Returns a new step, which has not been played. */
export function newStep({ index, after, memo, now }: NewStep): Step {
  return {
    id: crypto.randomUUID(),
    index,
    state: 'begun',
    began_at: now,
    after,
    played_at: null,
    progress: 0,
    progress_at: now,
    memo,
  }
}

/** Stores a new certification. Fails with a duplicate-key error while another certification of the key is running. */
export async function insertCertification(db: Db, certification: Certification): Promise<void> {
  await certificationModel(db).create([certification])
}

/** Deletes a certification that could not be started. */
export async function removeCertification(db: Db, id: number): Promise<void> {
  await certificationModel(db).deleteOne({ _id: id })
}

/**
 * Returns a key's certification by id.
 *
 * @throws DomainError `not_found` if the key has no such certification or the id is undefined
 */
export async function findCertification(
  db: Db,
  keyId: number,
  id: number | undefined,
): Promise<Certification> {
  const found = id ? await certificationModel(db).findOne({ _id: id, key_id: keyId }).lean() : null
  if (!found) throw notFound('Certification')
  return found
}

/** Lists a key's certifications, newest first. */
export function listCertifications(db: Db, keyId: number): Promise<Certification[]> {
  return certificationModel(db).find({ key_id: keyId }).sort({ _id: -1 }).limit(keptOfKey).lean()
}

/**
 * Lists one host's certifications, or all certifications if `hostId` is undefined, newest first. For administrators.
 */
export function listAllCertifications(
  db: Db,
  { hostId, limit }: { hostId?: number | undefined; limit: number },
): Promise<Certification[]> {
  const filter = hostId === undefined ? {} : { host_id: hostId }
  return certificationModel(db).find(filter).sort({ _id: -1 }).limit(limit).lean()
}

/** Returns a key's running certification, or null. */
export function findRunning(db: Db, keyId: number): Promise<Certification | null> {
  return certificationModel(db).findOne({ key_id: keyId, status: 'running' }).lean()
}

/** Returns all running certifications. */
export function findAllRunning(db: Db): Promise<Certification[]> {
  return certificationModel(db).find({ status: 'running' }).lean()
}

/** Updates a running certification if it has not changed since it was read. Returns null if it has changed or ended. */
export function changeCertification(
  db: Db,
  { _id, revision }: Pick<Certification, '_id' | 'revision'>,
  change: Partial<Certification>,
): Promise<Certification | null> {
  return certificationModel(db)
    .findOneAndUpdate(
      { _id, revision, status: 'running' },
      { $set: change, $inc: { revision: 1 } },
      { new: true },
    )
    .lean()
}

/**
 * Replaces `next` if the current step has not been played yet. Unlike {@link changeCertification}, ignores `revision`.
 */
export async function setNextUnlessPlayed(db: Db, id: number, next: Next): Promise<void> {
  await certificationModel(db).updateOne(
    { _id: id, status: 'running', 'step.state': { $in: ['begun', 'released'] } },
    { $set: { next }, $inc: { revision: 1 } },
  )
}

/** Stores the problems with an uploaded state. Returns null if the step is no longer the current step. */
export function recordProblems(
  db: Db,
  id: number,
  stepId: string,
  judged: string[],
): Promise<Certification | null> {
  return certificationModel(db)
    .findOneAndUpdate(
      { _id: id, status: 'running', 'step.id': stepId },
      { $set: { 'step.memo.judged': judged }, $inc: { revision: 1 } },
      { new: true },
    )
    .lean()
}

/** Delay between the end of a certification and the sweep of late requests' records. */
const sweepMilliseconds = 60_000

/**
 * Ends a certification even if it has changed since it was read. Nothing is recorded or played afterwards, and the
 * recorded requests and deliveries are deleted.
 *
 * @param because reason given for skipping undecided cases
 */
export async function endCertification(
  { db, clockWatch }: Pick<AppContext, 'db' | 'clockWatch'>,
  certification: Certification,
  status: 'passed' | 'failed' | 'expired',
  because: string,
): Promise<void> {
  const now = clockWatch.databaseNow()
  const { _id, key_id } = certification
  await endObservation(db, key_id, _id)
  const cases = certification.cases.map(
    (one): Case => (one.status === 'waiting' ? { ...one, status: 'skipped', because } : one),
  )
  const end: Partial<Certification> = {
    status,
    ended_at: now,
    cases,
    step: null,
    next: null,
    facts: {},
    secret: null,
    sweep_at: new Date(now.getTime() + sweepMilliseconds),
  }
  const isRunning = { _id, status: 'running' }
  const { modifiedCount } = await certificationModel(db).updateOne(isRunning, {
    $set: end,
    $inc: { revision: 1 },
  })
  if (modifiedCount === 0) return
  await deleteRecords(db, _id)
  await keepNewest(certificationModel(db), { key_id, status: { $ne: 'running' } }, keptOfKey)
}

/**
 * Deletes the records of ended certifications again, because requests that were in progress at the end may have been
 * recorded since.
 */
export async function sweepRecords(db: Db, now: Date): Promise<void> {
  const due = await certificationModel(db)
    .find({ sweep_at: { $lte: now } }, { _id: 1 })
    .lean()
  for (const { _id } of due) {
    await deleteRecords(db, _id)
    await certificationModel(db).updateOne({ _id }, { $set: { sweep_at: null } })
  }
}

/** Maximum number of requests recorded for a certification. Further requests are only counted. */
const maxRecords = 5000
/** Time after which records expire if their certification was never ended properly. */
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
  const page = await readPagePosition(db, seen)
  const fault = seen.fault ?? realFault(status)
  const expires_at = new Date(now.getTime() + keptMilliseconds)
  const bookings = hasSucceeded({ status, fault }) ? deliveredBookings(seen) : []
  const delivered = await storeDeliveries(db, certificationId, bookings, expires_at)
  const { items, nights } = sizeOfWrite(seen)
  await requestRecordModel(db).collection.insertOne({
    certification_id: certificationId,
    ordinal: counted.requests + 1,
    operation,
    at,
    answered_at: now,
    request_id: requestId,
    status,
    fault,
    delivered,
    is_page: page !== null,
    is_first: page?.isFirst ?? false,
    from: page?.from ?? null,
    items,
    nights,
    body_hash: body === undefined ? null : hash(stringify(body) ?? ''),
    key_hash: idempotencyKey === undefined ? null : hash(idempotencyKey),
    expires_at,
  })
}

/** Returns the fault that a real 429 or 5xx response is recorded as; null for any other status. */
function realFault(status: number): string | null {
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'internal_error' : null
}

const deliveryId = (certificationId: number, bookingId: number, version: Date) =>
  `${certificationId}/${bookingId}/${version.getTime()}`

/** Stores the deliveries that are not stored yet, and returns the number of new deliveries. */
async function storeDeliveries(
  db: Db,
  certification_id: number,
  bookings: DeliveredBooking[],
  expires_at: Date,
): Promise<number> {
  const idOf = ({ id, version }: DeliveredBooking) => deliveryId(certification_id, id, version)
  const known = await findKnown(db, bookings.map(idOf))
  // Another request may store the same deliveries concurrently, so these writes are upserts.
  const upserts = bookings
    .filter((booking) => !known.has(idOf(booking)))
    .map(({ id, ...booking }) => {
      const filter = { _id: deliveryId(certification_id, id, booking.version) }
      const delivery = { certification_id, booking_id: id, ...booking, expires_at }
      return { updateOne: { filter, update: { $setOnInsert: delivery }, upsert: true } }
    })
  if (upserts.length === 0) return 0
  const stored = await deliveredVersionModel(db).collection.bulkWrite(upserts, { ordered: false })
  return stored.upsertedCount
}

/** Returns the subset of delivery ids that are already stored. */
async function findKnown(db: Db, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const found = await deliveredVersionModel(db)
    .find({ _id: { $in: ids } }, { _id: 1 })
    .lean()
  return new Set(found.map(({ _id }) => _id))
}

/** Returns the bookings whose current version has been delivered to the product. */
export async function findDelivered<T extends { id: number; updated_at: Date }>(
  db: Db,
  certificationId: number,
  bookings: T[],
): Promise<T[]> {
  const idOf = ({ id, updated_at }: T) => deliveryId(certificationId, id, updated_at)
  const known = await findKnown(db, bookings.map(idOf))
  return bookings.filter((booking) => known.has(idOf(booking)))
}

/** Returns all deliveries of a certification, older versions first. */
export function findDeliveries(db: Db, certificationId: number): Promise<DeliveredVersion[]> {
  return deliveredVersionModel(db).find({ certification_id: certificationId }).sort({ version: 1 }).lean()
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

/** Deletes a certification's recorded requests and deliveries. */
export async function deleteRecords(db: Db, certificationId: number): Promise<void> {
  const ofRun = { certification_id: certificationId }
  await Promise.all([requestRecordModel(db).deleteMany(ofRun), deliveredVersionModel(db).deleteMany(ofRun)])
}

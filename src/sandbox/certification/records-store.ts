import { createHmac } from 'node:crypto'
import { stringify } from 'safe-stable-stringify'
import type { Observed } from '../../http/observation.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { certificationModel, type RequestRecord, requestRecordModel } from './model.ts'

/** So many requests of a run are recorded; further ones are only counted. */
const maxRecords = 5000
/** Of a run that nobody ended properly. */
const keptMilliseconds = 5 * 3_600_000

/** Records a request of a certification that is running. */
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
  const hash = (text: string) => createHmac('sha256', secret).update(text).digest('base64url')
  const { delivered, body, idempotencyKey, requestId, ...facts } = seen
  const { operation, at, status, fault, items, nights } = facts
  const { page, bookings: shown = [] } = delivered ?? {}
  const shown_hash = shown.length > 0 && fault === null ? hash(JSON.stringify(shown)) : null
  // Who reads the same again and again would have everything compared again and again.
  const isKnown =
    shown_hash !== null &&
    (await requestRecordModel(db).exists({ certification_id: certificationId, shown_hash })) !== null
  await requestRecordModel(db).collection.insertOne({
    certification_id: certificationId,
    ordinal: counted.requests + 1,
    ...{ operation, at, answered_at: now, request_id: requestId, status, fault, items, nights },
    bookings: isKnown ? [] : shown,
    shown_hash: isKnown ? null : shown_hash,
    is_page: page !== undefined,
    is_first: page?.isFirst ?? false,
    from: page?.from ?? null,
    is_vague: page !== undefined && page.from === undefined,
    body_hash: body === undefined ? null : hash(stringify(body) ?? ''),
    key_hash: idempotencyKey === undefined ? null : hash(idempotencyKey),
    expires_at: new Date(now.getTime() + keptMilliseconds),
  })
}

/** The requests of a run that came after so many, in the order in which they came. */
export function findRecords(db: Db, certificationId: number, after: number): Promise<RequestRecord[]> {
  return requestRecordModel(db)
    .find({ certification_id: certificationId, ordinal: { $gt: after } })
    .sort({ at: 1, _id: 1 })
    .lean()
}

/** Deletes all requests of a run. */
export async function deleteRecords(db: Db, certificationId: number): Promise<void> {
  await requestRecordModel(db).deleteMany({ certification_id: certificationId })
}

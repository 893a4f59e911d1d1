import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const recordFields = {
  certification_id: field.number,
  /** Number of the request within its certification, counted from 1. */
  ordinal: field.number,
  /** Method and route. */
  operation: field.text,
  /** Times at which the request arrived and at which its response was about to be sent. */
  at: field.moment,
  answered_at: field.moment,
  request_id: field.textOrNull,
  status: field.number,
  fault: field.textOrNull,
  /** Number of booking versions that this response was the first to deliver. */
  delivered: field.number,
  /** True if the response is a page of the feed. The next two fields describe the page. */
  is_page: field.flag,
  is_first: field.flag,
  /** A version after which the page starts; null for the beginning of the feed. */
  from: field.momentOrNull,
  items: field.number,
  nights: field.number,
  body_hash: field.textOrNull,
  key_hash: field.textOrNull,
  expires_at: field.moment,
}

/**
 * A certification's record of a request, without any of the values in the request. Deleted when the certification ends.
 */
export type RequestRecord = Stored<typeof recordFields>

const recordSchema = schemaOf(recordFields)
recordSchema.index({ certification_id: 1, ordinal: 1 }, { name: 'certification_request' })
recordSchema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'certification_request_expiry' })

export const requestRecordModel = modelOf<RequestRecord>('certification_requests', recordSchema)

const deliveryFields = {
  /**
   * Combines certification, booking and version, so that each version of a booking is stored once per certification.
   */
  _id: field.text,
  certification_id: field.number,
  booking_id: field.number,
  version: field.moment,
  status: field.text,
  checkin_at: field.text,
  checkout_at: field.text,
  expires_at: field.moment,
}

/**
 * A version of a booking that a response delivered to the product. A sandbox holds 5,000 documents and a booking has at
 * most three versions, so a certification has fewer than 15,000 deliveries.
 */
export type DeliveredVersion = Stored<typeof deliveryFields>

const deliverySchema = schemaOf(deliveryFields)
deliverySchema.index({ certification_id: 1 }, { name: 'certification_delivery' })
deliverySchema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'certification_delivery_expiry' })

export const deliveredVersionModel = modelOf<DeliveredVersion>('certification_deliveries', deliverySchema)

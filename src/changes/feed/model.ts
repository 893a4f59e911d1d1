import { Schema } from 'mongoose'
import { modelOf } from '../../platform/mongo/collections.ts'

/** Where a page of the feed ended. */
export interface PageEnd {
  /** Page and version, so that the same end is stored once. */
  _id: string
  host_id: number
  /** Which page of which query of which key. */
  page: string
  version: Date
  expires_at: Date
}

const schema = new Schema<PageEnd>({
  _id: { type: String, required: true },
  host_id: { type: Number, required: true },
  page: { type: String, required: true },
  version: { type: Date, required: true },
  expires_at: { type: Date, required: true },
})
schema.index({ host_id: 1, page: 1, version: 1 }, { name: 'page_end' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'walk_expiry' })

export const pageEndModel = modelOf<PageEnd>('page_ends', schema)

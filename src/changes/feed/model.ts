import { modelOf } from '../../platform/mongo/collections.ts'
import { field, type Stored, schemaOf } from '../../platform/mongo/fields.ts'

const fields = {
  /** Combines `page` and `version`, so that the same page end is stored only once. */
  _id: field.text,
  owner_id: field.number,
  /** Name of the page: a hash of the key and its query, followed by the page number. */
  page: field.text,
  version: field.moment,
  expires_at: field.moment,
}

/** The version at which a page of the feed ended. */
export type PageEnd = Stored<typeof fields>

const schema = schemaOf(fields)
schema.index({ owner_id: 1, page: 1, version: 1 }, { name: 'page_end' })
schema.index({ expires_at: 1 }, { expireAfterSeconds: 0, name: 'walk_expiry' })

export const pageEndModel = modelOf<PageEnd>('page_ends', schema, { owner: 'owner_id' })

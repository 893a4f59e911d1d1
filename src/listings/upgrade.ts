import { fillMissing, type MigrationPart } from '../platform/mongo/migration.ts'
import { indexFieldsOf, listingModel } from './model.ts'

/** Listings stored before they were recognized by hashes; the indexes of before refused what is now allowed. */
export const upgradeListings: MigrationPart = fillMissing(
  listingModel,
  'original_id_key',
  ({ content }) => indexFieldsOf(content),
  ['listing_original_id', 'listing_original_url'],
)

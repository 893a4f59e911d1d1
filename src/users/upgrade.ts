import { indexKey } from '../platform/mongo/index-key.ts'
import { fillMissing, type MigrationPart } from '../platform/mongo/migration.ts'
import { userModel } from './model.ts'

/** Users stored before addresses were indexed by their hash; the index of before refused what is now allowed. */
export const upgradeUsers: MigrationPart = fillMissing(
  userModel,
  'email_key',
  ({ email }) => ({ email_key: indexKey(email) as string }),
  ['user_email'],
)

import type { Migration } from '../platform/mongo/server/schema-version.ts'

/**
 * All migrations since the first release, oldest first. A release that changes how data is stored adds a migration. A
 * released migration is never changed or removed (CONTRIBUTING, "Change what is stored").
 */
export const migrations: Migration[] = []

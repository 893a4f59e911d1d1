import type { Migration } from '../platform/mongo/migration.ts'

/**
 * Every change of what is stored since the first release, oldest first. A release adds one where it stores something in
 * another way, and never changes or removes one that was released (CONTRIBUTING, "Change what is stored").
 */
export const migrations: Migration[] = []

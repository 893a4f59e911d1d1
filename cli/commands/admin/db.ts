import { defineCommand } from 'citty'
import { check } from './database/check.ts'
import { migrate } from './database/migrate.ts'

export const db = defineCommand({
  subCommands: { check, migrate },
})

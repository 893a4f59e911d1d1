import { defineCommand } from 'citty'
import { afterRestore } from './database/after-restore.ts'
import { backup } from './database/backup.ts'
import { check } from './database/check.ts'
import { migrate } from './database/migrate.ts'
import { restore } from './database/restore.ts'

export const db = defineCommand({
  subCommands: { check, migrate, backup, restore, 'after-restore': afterRestore },
})

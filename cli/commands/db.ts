import { defineCommand } from 'citty'
import { inspectDatabase } from '../../src/infra/inspection.ts'
import { models } from '../../src/models.ts'
import { command } from '../command.ts'
import { withDatabase } from '../database.ts'
import { showFindings } from '../findings.ts'

const check = command({
  meta: { name: 'check', description: 'Check indexes, replica set and clock of the database' },
  async run({ args }) {
    await withDatabase(async ({ db }) => {
      const findings = await inspectDatabase(db, models)
      showFindings(args, findings, () => 'The database is not fit for service')
    })
  },
})

export const db = defineCommand({
  meta: { name: 'db', description: 'Check the database (administrator)' },
  subCommands: { check },
})

import { defineCommand } from 'citty'
import { inspectDatabase } from '../../../src/admin/inspection.ts'
import { models } from '../../../src/compose.ts'
import { command } from '../../command.ts'
import { showFindings } from '../../findings.ts'
import { withDatabase } from './administer.ts'

const check = command({
  meta: { name: 'check', description: 'Check indexes, replica set and clock of the database' },
  examples: ['partnerctl db check'],
  async run({ args }) {
    await withDatabase(async ({ db }) => {
      const findings = await inspectDatabase(db, models)
      showFindings(args, findings, () => 'The database is not ready for the service')
    })
  },
})

export const db = defineCommand({
  subCommands: { check },
})

import { defineCommand } from 'citty'
import { inspectDatabase } from '../../src/infra/inspection.ts'
import { models } from '../../src/models.ts'
import { command } from '../command.ts'
import { withDatabase } from '../database.ts'
import { print, table } from '../output.ts'

const check = command({
  meta: { name: 'check', description: 'Check indexes, replica set and clock of the database' },
  async run({ args }) {
    await withDatabase(async ({ db }) => {
      const findings = await inspectDatabase(db, models)
      print(args, findings, () =>
        table(
          ['CHECK', 'STATE', 'DETAIL'],
          findings.map((finding) => [finding.check, finding.state, finding.detail]),
        ),
      )
      if (findings.some(({ state }) => state === 'failed'))
        throw new Error('The database is not fit for service')
    })
  },
})

export const db = defineCommand({
  meta: { name: 'db', description: 'Check the database (administrator)' },
  subCommands: { check },
})

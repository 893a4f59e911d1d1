import { inspectDatabase } from '../../../../src/process/inspection.ts'
import { release } from '../../../../src/process/release.ts'
import { command } from '../../../command.ts'
import { showFindings } from '../../../findings.ts'
import { withDatabase } from '../administer.ts'

export const check = command({
  meta: { name: 'check', description: 'Check schema, indexes, members and clock of the database' },
  examples: ['partnerctl db check'],
  async run({ args }) {
    await withDatabase(
      async ({ db, mongodbUrl }) => {
        const findings = await inspectDatabase(db, mongodbUrl, release)
        showFindings(args, findings, () => 'The database is not ready for the service')
      },
      { skipMigrations: true },
    )
  },
})

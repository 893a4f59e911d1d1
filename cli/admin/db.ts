import { defineCommand } from 'citty'
import { recordAction } from '../../src/access/audit/store.ts'
import { inspectDatabase } from '../../src/operations/inspection.ts'
import { release } from '../../src/operations/release.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import {
  finishMigrations,
  migrate as migrateDatabase,
  type PlannedStep,
  planMigration,
  repairIndexes,
} from '../../src/platform/mongo/server/migrations.ts'
import { readSchemaState } from '../../src/platform/mongo/server/schema-version.ts'
import { sandboxDatabase } from '../../src/sandbox/store.ts'
import { command, flag } from '../shared/command.ts'
import { note, print } from '../shared/output.ts'
import { showFindings, table } from '../shared/table.ts'
import { confirm, withDatabase, yesArgument } from './administer.ts'
import { afterRestore, backup, restore } from './backups.ts'

const check = command({
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

type Plan = (PlannedStep & { database: string })[]

async function planAll(databases: Db[], finish: boolean): Promise<Plan> {
  const plans = databases.map(async (db) =>
    (await planMigration(db, release, finish)).map((step) => ({ database: db.name, ...step })),
  )
  return (await Promise.all(plans)).flat()
}

/** True while processes of an earlier release may still be serving. */
async function isUnfinished(databases: Db[]): Promise<boolean> {
  const states = await Promise.all(databases.map((db) => readSchemaState(db, release)))
  return states.some(({ version, oldest }) => oldest < version)
}

function render(plan: Plan): string {
  if (plan.length === 0) return 'There is nothing to do'
  return table(plan, { DATABASE: 'database', STEP: 'step', WHAT: 'what', DOCUMENTS: 'documents' })
}

const migrate = command({
  meta: {
    name: 'migrate',
    description: 'Upgrade the stored data to this release while the previous release keeps serving',
  },
  examples: ['partnerctl db migrate --dry-run', 'partnerctl db migrate', 'partnerctl db migrate --finish'],
  args: {
    'dry-run': flag('Show the steps without changing anything'),
    finish: flag(
      'Also remove indexes that only earlier releases need; no process of an earlier release may be running',
    ),
    ...yesArgument,
  },
  async run({ args }) {
    const finish = Boolean(args.finish)
    await withDatabase(
      async ({ db, clock }) => {
        const databases = [db, sandboxDatabase(db)]
        const plan = await planAll(databases, finish)
        if (args['dry-run']) return print(args, plan, render)
        if (finish) await confirm(args, 'Earlier releases can no longer be started on this database.')
        for (const database of databases) {
          await migrateDatabase(database, release)
          await repairIndexes(database, release)
          if (finish) await finishMigrations(database, release)
        }
        const target = finish ? 'this release, finished' : 'this release'
        await recordAction(db, { owner_id: null, at: clock(), action: 'db migrate', target })
        print(args, plan, render)
        if (await isUnfinished(databases))
          note('Once no process of an earlier release is running, run this command again with --finish')
      },
      { skipMigrations: true },
    )
  },
})

export const db = defineCommand({
  subCommands: { check, migrate, backup, restore, 'after-restore': afterRestore },
})

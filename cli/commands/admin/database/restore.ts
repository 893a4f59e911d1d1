import {
  readBackupRecord,
  requireUnserved,
  restoreEmbedded,
} from '../../../../src/platform/mongo/embedded-backup.ts'
import { FutureSchemaError, latestVersion } from '../../../../src/platform/mongo/schema-version.ts'
import { readHighWaterMarks } from '../../../../src/process/after-restore.ts'
import { migrations } from '../../../../src/process/migrations.ts'
import { sandboxDatabase } from '../../../../src/sandbox/store.ts'
import { command } from '../../../command.ts'
import { confirm, yesArgument } from '../../../confirm.ts'
import { note, print, record } from '../../../output.ts'
import { type Act, type Administration, administer, withDatabase } from '../administer.ts'
import { adviseOperator, defaultDistance, makeSafe, toRecord } from './after-restore.ts'
import { readFolder, requireEmbedded } from './backup.ts'

/** Reads the high-water marks of the data to be replaced; undefined if there is no data, or it cannot be read. */
function readBefore() {
  const read = async ({ db }: Administration) => ({
    live: await readHighWaterMarks(db),
    sandbox: await readHighWaterMarks(sandboxDatabase(db)),
  })
  return withDatabase(read, { skipMigrations: true }).catch(() => undefined)
}

export const restore = command({
  meta: {
    name: 'restore',
    description:
      'Put a backup in the place of the embedded database, and make it safe to serve (after-restore)',
  },
  examples: ['partnerctl db restore ./backups/monday --yes'],
  args: {
    folder: { type: 'positional', required: true, description: 'Folder that "db backup" has made' },
    ...yesArgument,
  },
  async run({ args }) {
    const { dataDir } = requireEmbedded()
    const folder = readFolder(args.folder)
    const { completed_at, oldest_schema_version: oldest } = await readBackupRecord(folder)
    const known = latestVersion(migrations)
    if (oldest > known) throw new FutureSchemaError(oldest, known)
    await confirm(args, `What was stored since ${completed_at} will not be served any more.`)
    await requireUnserved(dataDir)
    const before = await readBefore()
    const aside = await restoreEmbedded(folder, dataDir, new Date())
    if (aside) note(`The previous data was moved to ${aside}`)
    if (aside && !before) note('It could not be read: ids and versions go on from those of the backup')
    const move = (act: Act) => makeSafe(act, defaultDistance, before)
    const moved = await administer('db restore', folder, move, { record: 'upfront' })
    print(args, { folder, completed_at, ...toRecord(moved) }, record)
    adviseOperator()
  },
})

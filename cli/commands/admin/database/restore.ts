import { resolve } from 'node:path'
import { migrations } from '../../../../src/migrations.ts'
import { readBackupRecord, restoreEmbedded } from '../../../../src/platform/mongo/embedded-backup.ts'
import { FutureSchemaError, latestVersion } from '../../../../src/platform/mongo/schema-version.ts'
import { command } from '../../../command.ts'
import { confirm, yesArgument } from '../../../confirm.ts'
import { note, print, record } from '../../../output.ts'
import { type Act, administer } from '../administer.ts'
import { adviseOperator, defaultDistance, moveAllAhead, toRecord } from './after-restore.ts'
import { requireEmbedded } from './backup.ts'

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
    const folder = resolve(args.folder)
    const { completed_at, oldest_schema_version: oldest } = await readBackupRecord(folder)
    const known = latestVersion(migrations)
    if (oldest > known) throw new FutureSchemaError(oldest, known)
    await confirm(args, `What was stored since ${completed_at} will not be served any more.`)
    const aside = await restoreEmbedded(folder, dataDir, new Date())
    if (aside) note(`The data of before is in ${aside}`)
    const move = (act: Act) => moveAllAhead(act, defaultDistance)
    const moved = await administer('db restore', folder, move, { record: 'before' })
    print(args, { folder, completed_at, ...toRecord(moved) }, record)
    adviseOperator()
  },
})

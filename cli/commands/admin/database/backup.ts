import { resolve } from 'node:path'
import { readConfig } from '../../../../src/core/config.ts'
import { backUpEmbedded, requireEmptyFolder } from '../../../../src/platform/mongo/embedded-backup.ts'
import { readSchemaState } from '../../../../src/platform/mongo/schema-version.ts'
import { release } from '../../../../src/process/release.ts'
import { command } from '../../../command.ts'
import { UsageError } from '../../../errors.ts'
import { print, record } from '../../../output.ts'
import { type Act, administer } from '../administer.ts'

/** @throws UsageError if the service does not run its own MongoDB */
export function requireEmbedded(): { dataDir: string } {
  const { mongodbUrl, dataDir } = readConfig(process.env, [])
  if (mongodbUrl)
    throw new UsageError(
      'MONGODB_URL is set: use the tools of MongoDB, as docs/operations.md says under "Backups"',
    )
  return { dataDir }
}

/** @throws UsageError for a blank name, which would mean the current folder */
export function readFolder(text: string): string {
  if (text.trim() === '') throw new UsageError('Name a folder')
  return resolve(text)
}

export const backup = command({
  meta: {
    name: 'backup',
    description: 'Copy the data of the embedded database into a new folder, while it serves',
  },
  examples: ['partnerctl db backup ./backups/monday'],
  args: {
    folder: {
      type: 'positional',
      required: true,
      description: 'Folder that does not exist yet, or is empty',
    },
  },
  async run({ args }) {
    const { dataDir } = requireEmbedded()
    const folder = readFolder(args.folder)
    await requireEmptyFolder(folder)
    const copy = async ({ db }: Act) => {
      const { oldest } = await readSchemaState(db, release)
      return backUpEmbedded(db, dataDir, folder, oldest)
    }
    const { completed_at } = await administer('db backup', folder, copy, { record: 'upfront' })
    print(args, { folder, completed_at }, record)
  },
})

import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  readBackupRecord,
  requireEmptyFolder,
  requireNotRunning,
} from '../../../src/platform/mongo/server/embedded-backup.ts'

/** Returns a folder in which the given file can be read by nobody, because it is a link to itself. */
async function folderWithUnreadable(name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-unreadable-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(join(folder, name), join(folder, name))
  return folder
}

test('a data folder whose users cannot be listed does not count as unused', async () => {
  const folder = await folderWithUnreadable('users')
  await expect(requireNotRunning(folder)).rejects.toThrow('ELOOP')
})

test('a data folder whose record of the server cannot be read does not count as unused', async () => {
  const folder = await folderWithUnreadable('mongod.json')
  await expect(requireNotRunning(folder)).rejects.toThrow('ELOOP')
})

test('a backup whose record cannot be read is not reported as incomplete', async () => {
  const folder = await folderWithUnreadable('backup.json')
  await expect(readBackupRecord(folder)).rejects.toThrow('ELOOP')
})

test('a folder that cannot be listed does not count as empty, and one that does not exist does', async () => {
  const folder = await folderWithUnreadable('backups')
  await expect(requireEmptyFolder(join(folder, 'backups'))).rejects.toThrow('ELOOP')
  await expect(requireEmptyFolder(join(folder, 'none'))).resolves.toBeUndefined()
})

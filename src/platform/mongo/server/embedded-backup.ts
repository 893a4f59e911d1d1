import {
  constants,
  cp,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ifMissing } from '../../../core/file-errors.ts'
import { isAlive } from '../../process.ts'
import type { Db } from '../connection.ts'
import { restoringFolder, runningServer } from './embedded.ts'
import { withWritesBlocked } from './write-lock.ts'

/** A description of a backup, stored in `backup.json` beside the data. */
export interface BackupRecord {
  /** Time at which the copy was complete. The backup contains every write acknowledged before that time. */
  completed_at: string
  /** Schema version of the earliest release that can serve the backup. */
  oldest_schema_version: number
  /** Size in bytes of each file under `mongodb`, by path. A backup with a missing or truncated file is not restored. */
  files: Record<string, number>
}

/** Files that are not copied, because the server recreates them. */
const notCopied = /\/(mongod\.lock|diagnostic\.data|WiredTigerPreplog\.\d+)$/

/**
 * Copies the running embedded server's data into a new folder. Writes wait until the copy is complete, so that it is a
 * consistent snapshot.
 *
 * @throws Error if the folder is not empty or another backup is in progress
 */
export async function backUpEmbedded(
  db: Db,
  dataDir: string,
  folder: string,
  oldest_schema_version: number,
): Promise<BackupRecord> {
  await requireEmptyFolder(folder)
  const data = join(folder, 'mongodb')
  const completed = await withWritesBlocked(dataDir, db.getClient().db('admin'), async () => {
    await cp(join(dataDir, 'mongodb'), data, {
      recursive: true,
      mode: constants.COPYFILE_FICLONE,
      filter: (path) => !notCopied.test(path),
    })
    return new Date()
  })
  const record = {
    completed_at: completed.toISOString(),
    oldest_schema_version,
    files: await sizesBelow(data),
  }
  await writeFile(recordPath(folder), `${JSON.stringify(record, null, 2)}\n`)
  return record
}

/** Returns the object in a JSON file; an empty object if the file is missing or invalid. */
async function readJson(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8').catch((error) => ifMissing(error, '{}'))
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Returns the size in bytes of each file in a folder and its subfolders, by its path relative to the folder. */
async function sizesBelow(folder: string): Promise<Record<string, number>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const sizes = await Promise.all(
    files.map(async (file) => [relative(folder, file), (await stat(file)).size] as const),
  )
  return Object.fromEntries(sizes)
}

/** Returns the names of the files and folders in a folder; none if there is no such folder. */
function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error) => ifMissing(error, []))
}

/** @throws Error if the folder is not empty */
export async function requireEmptyFolder(folder: string): Promise<void> {
  if ((await namesIn(folder)).length > 0)
    throw new Error(`The folder ${folder} is not empty: name a new folder`)
}

/**
 * Replaces the embedded server's data with a backup and keeps the previous data in a folder beside it. No server may be
 * running on the data.
 *
 * @returns the path that the previous data was moved to, or null if there was no data
 * @throws Error if `folder` is not a complete backup, or if the data is in use
 */
export async function restoreEmbedded(folder: string, dataDir: string, now: Date): Promise<string | null> {
  await requireNotRunning(dataDir)
  await readBackupRecord(folder)
  const data = join(dataDir, 'mongodb')
  const aside = `${data}.before-${now.toISOString().replace(/[:.]/g, '')}`
  const hadData = (await namesIn(data)).length > 0
  await mkdir(dataDir, { recursive: true })
  // The backup is copied to a folder beside the existing data, which stays in place until the copy is complete.
  const draft = join(dataDir, restoringFolder)
  await rm(draft, { recursive: true, force: true })
  await cp(join(folder, 'mongodb'), draft, { recursive: true })
  if (hadData) await rename(data, aside)
  else await rm(data, { recursive: true, force: true })
  await rename(draft, data)
  return hadData ? aside : null
}

/**
 * Returns a complete backup's record.
 *
 * @throws Error if the folder is not a backup or the backup is incomplete
 */
export async function readBackupRecord(folder: string): Promise<BackupRecord> {
  const record = (await readJson(recordPath(folder))) as Partial<BackupRecord>
  const { completed_at, oldest_schema_version, files } = record
  if (!completed_at || !Number.isInteger(oldest_schema_version) || !files) throw noBackup(folder)
  const data = join(folder, 'mongodb')
  const present = await sizesBelow(data).catch((error): Record<string, number> => ifMissing(error, {}))
  const wrong = Object.entries(files).find(([name, size]) => present[name] !== size)
  if (wrong)
    throw new Error(`The backup in ${folder} is not complete: mongodb/${wrong[0]} is missing or truncated`)
  return record as BackupRecord
}

function noBackup(folder: string): Error {
  return new Error(`There is no complete backup in ${folder}`)
}

/** @throws Error if a service or a command is using a folder's embedded database, even if the server itself has died */
export async function requireNotRunning(dataDir: string): Promise<void> {
  const users = await namesIn(join(dataDir, 'users'))
  const isServed = await runningServer(await realpath(dataDir).catch((error) => ifMissing(error, dataDir)))
  if (isServed || users.some((pid) => isAlive(Number(pid))))
    throw new Error(`A server is running on ${dataDir}: stop the service first`)
}

function recordPath(folder: string): string {
  return join(folder, 'backup.json')
}

import { existsSync } from 'node:fs'
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
import { isAlive } from '../process.ts'
import type { Db } from './connection.ts'
import { restoringFolder, runningServer } from './embedded.ts'
import { withoutWrites } from './write-lock.ts'

/** Description of a backup, in `backup.json` beside the data. */
export interface BackupRecord {
  /** When the copy was complete: everything acknowledged before that is in it. */
  completed_at: string
  /** The earliest release that can serve it, by its schema version. */
  oldest_schema_version: number
  /** The size of each file below `mongodb`, in bytes: a copy that lacks something is not put back. */
  files: Record<string, number>
}

/** Files that the server recreates. */
const notCopied = /\/(mongod\.lock|diagnostic\.data|WiredTigerPreplog\.\d+)$/

/**
 * Copies the data of the running embedded server into a new folder. Writes wait while it is copied: so the copy is the
 * state of one moment.
 *
 * @throws Error when the folder holds something, or another backup is being made
 */
export async function backUpEmbedded(
  db: Db,
  dataDir: string,
  folder: string,
  oldest_schema_version: number,
): Promise<BackupRecord> {
  await requireEmptyFolder(folder)
  const data = join(folder, 'mongodb')
  const completed = await withoutWrites(dataDir, db.getClient().db('admin'), async () => {
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

/** The fields of an object in a JSON file; none where there is no such file. */
async function readJson(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8').catch(() => '{}')
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The size of each file in a folder, by its path below it. */
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

/** @throws Error for a folder that holds something */
export async function requireEmptyFolder(folder: string): Promise<void> {
  if (existsSync(folder) && (await readdir(folder)).length > 0)
    throw new Error(`The folder ${folder} is not empty: name a new one`)
}

/**
 * Puts a backup in the place of the embedded server's data, which is kept beside it. No server may run on it.
 *
 * @returns where the previous data was moved to, or null where there was none
 * @throws Error for a folder that is no backup
 */
export async function restoreEmbedded(folder: string, dataDir: string, now: Date): Promise<string | null> {
  await requireUnserved(dataDir)
  await readBackupRecord(folder)
  const data = join(dataDir, 'mongodb')
  const aside = `${data}.before-${now.toISOString().replace(/[:.]/g, '')}`
  const hadData = existsSync(data) && (await readdir(data)).length > 0
  await mkdir(dataDir, { recursive: true })
  // Copied beside it first: what is there stays in place until the copy is complete.
  const draft = join(dataDir, restoringFolder)
  await rm(draft, { recursive: true, force: true })
  await cp(join(folder, 'mongodb'), draft, { recursive: true })
  if (hadData) await rename(data, aside)
  else await rm(data, { recursive: true, force: true })
  await rename(draft, data)
  return hadData ? aside : null
}

/** @throws Error for a folder that is no backup, or an incomplete one */
export async function readBackupRecord(folder: string): Promise<BackupRecord> {
  const record = (await readJson(recordPath(folder))) as Partial<BackupRecord>
  const { completed_at, oldest_schema_version, files } = record
  if (!completed_at || !Number.isInteger(oldest_schema_version) || !files) throw noBackup(folder)
  const present = await sizesBelow(join(folder, 'mongodb')).catch(() => ({}) as Record<string, number>)
  const wrong = Object.entries(files).find(([name, size]) => present[name] !== size)
  if (wrong)
    throw new Error(`The backup in ${folder} is not complete: mongodb/${wrong[0]} is missing or cut short`)
  return record as BackupRecord
}

function noBackup(folder: string): Error {
  return new Error(`There is no complete backup in ${folder}`)
}

/** @throws Error while a service, or a command, uses the embedded database of a folder, whether or not its server is alive */
export async function requireUnserved(dataDir: string): Promise<void> {
  const users = await readdir(join(dataDir, 'users')).catch(() => [])
  const isServed = await runningServer(await realpath(dataDir).catch(() => dataDir))
  if (isServed || users.some((pid) => isAlive(Number(pid))))
    throw new Error(`A server runs on ${dataDir}: stop the service first`)
}

function recordPath(folder: string): string {
  return join(folder, 'backup.json')
}

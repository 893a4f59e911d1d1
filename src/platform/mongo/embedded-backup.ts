import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type mongoose from 'mongoose'
import { freePort } from '../free-port.ts'
import { commandOf, isAlive } from '../process.ts'
import type { Db } from './connection.ts'
import { restoringFolder } from './embedded.ts'
import { findMongod, launch, shutDown } from './mongod.ts'

/** What is known of a backup, in `backup.json` beside the data. */
export interface BackupRecord {
  /** When the copy was complete: everything acknowledged before that is in it. */
  completed_at: string
  /** The earliest release that can serve it, by its schema version. */
  oldest_schema_version: number
  /** The size of each file below `mongodb`, in bytes: a copy that lacks something is not put back. */
  files: Record<string, number>
}

const syncTimeoutMilliseconds = 600_000
const lookEveryMilliseconds = 200

/**
 * Copies the data of the running embedded server into a new folder, while it serves. A second server joins the replica
 * set without a vote and hidden from clients, is brought up to date by the first one, as any member is, and leaves
 * again: so the copy is the state of one moment.
 *
 * @throws Error when the folder holds something, or the copy takes longer than ten minutes
 */
export async function backUpEmbedded(
  db: Db,
  dataDir: string,
  folder: string,
  oldest_schema_version: number,
): Promise<BackupRecord> {
  await requireEmptyFolder(folder)
  await mkdir(join(folder, 'mongodb'), { recursive: true })
  await endAbandonedCopy(dataDir)
  const admin = db.getClient().db('admin')
  const port = await freePort()
  const note = (more: object, flag: string) =>
    writeFile(runningPath(dataDir), JSON.stringify({ pid: process.pid, folder, ...more }), { flag })
  await note({}, 'wx').catch(() => {
    throw new Error(backupRuns)
  })
  const child = launch(findMongod(), folder, port)
  await note({ mongod: child.pid }, 'w')
  try {
    await setCopy(admin, port)
    const completed = await untilCaughtUp(admin, port)
    await shutDown(port)
    while (child.pid !== undefined && isAlive(child.pid)) await Bun.sleep(20)
    await rm(join(folder, 'mongod.log'), { force: true })
    const files = await sizesBelow(join(folder, 'mongodb'))
    const record = { completed_at: completed.toISOString(), oldest_schema_version, files }
    await writeFile(recordPath(folder), `${JSON.stringify(record, null, 2)}\n`)
    return record
  } finally {
    if (child.pid !== undefined && isAlive(child.pid)) process.kill(child.pid, 'SIGKILL')
    await setCopy(admin, null)
    await rm(runningPath(dataDir), { force: true })
  }
}

const backupRuns = 'Another backup is being made'

function runningPath(dataDir: string): string {
  return join(dataDir, 'backup-running.json')
}

/**
 * Ends the server of a backup whose command was killed.
 *
 * @throws Error while a backup is being made
 */
async function endAbandonedCopy(dataDir: string): Promise<void> {
  const { pid, mongod, folder } = await readJson(runningPath(dataDir))
  if (isAlive(Number(pid))) throw new Error(backupRuns)
  const program = isAlive(Number(mongod)) ? await commandOf(Number(mongod)) : ''
  if (program.includes(`--dbpath ${folder}/`)) process.kill(Number(mongod), 'SIGKILL')
  await rm(runningPath(dataDir), { force: true })
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

type Admin = mongoose.mongo.Db

/** Makes a server the second member of the replica set, to copy the first; or with null removes it. */
async function setCopy(admin: Admin, port: number | null): Promise<void> {
  const { config } = await admin.command({ replSetGetConfig: 1 })
  const [own] = config.members
  const copy = { _id: own._id + 1, host: `127.0.0.1:${port}`, priority: 0, votes: 0, hidden: true }
  const members = port === null ? [own] : [own, copy]
  await admin.command({ replSetReconfig: { ...config, members, version: config.version + 1 } })
}

interface MemberStatus {
  name: string
  stateStr: string
  self?: boolean
  optimeDate: Date
}

/** Waits until the copy has all that the primary had at this moment; returns the moment. */
async function untilCaughtUp(admin: Admin, port: number): Promise<Date> {
  const deadline = Date.now() + syncTimeoutMilliseconds
  let wanted: Date | undefined
  for (;;) {
    const { members } = (await admin.command({ replSetGetStatus: 1 })) as { members: MemberStatus[] }
    const copy = members.find(({ name }) => name === `127.0.0.1:${port}`)
    if (copy?.stateStr === 'SECONDARY') {
      wanted ??= members.find(({ self }) => self)?.optimeDate
      if (wanted && copy.optimeDate >= wanted) return wanted
    }
    if (Date.now() > deadline) throw new Error('The copy did not catch up within ten minutes')
    await Bun.sleep(lookEveryMilliseconds)
  }
}

/**
 * Puts a backup in the place of the embedded server's data, which is kept beside it. No server may run on it.
 *
 * @returns where the data of before is, or null where there was none
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
  const { pid } = await readJson(join(dataDir, 'mongod.json'))
  if ([pid, ...users].some((one) => isAlive(Number(one))))
    throw new Error(`A server runs on ${dataDir}: stop the service first`)
}

function recordPath(folder: string): string {
  return join(folder, 'backup.json')
}

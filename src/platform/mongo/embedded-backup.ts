import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type mongoose from 'mongoose'
import { freePort } from '../free-port.ts'
import { isAlive } from '../process.ts'
import type { Db } from './connection.ts'
import { findMongod, launch, shutDown } from './mongod.ts'

/** What is known of a backup, in `backup.json` beside the data. */
export interface BackupRecord {
  /** When the copy was complete: everything acknowledged before that is in it. */
  completed_at: string
  /** The earliest release that can serve it, by its schema version. */
  oldest_schema_version: number
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
  folder: string,
  oldest_schema_version: number,
): Promise<BackupRecord> {
  await requireEmptyFolder(folder)
  await mkdir(join(folder, 'mongodb'), { recursive: true })
  const admin = db.getClient().db('admin')
  const port = await freePort()
  const child = launch(findMongod(), folder, port)
  try {
    await setCopy(admin, port)
    const completed = await untilCaughtUp(admin, port)
    await shutDown(port)
    while (child.pid !== undefined && isAlive(child.pid)) await Bun.sleep(20)
    const record = { completed_at: completed.toISOString(), oldest_schema_version }
    await writeFile(recordPath(folder), `${JSON.stringify(record, null, 2)}\n`)
    await rm(join(folder, 'mongod.log'), { force: true })
    return record
  } finally {
    if (child.pid !== undefined && isAlive(child.pid)) process.kill(child.pid, 'SIGKILL')
    await setCopy(admin, null)
  }
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
  if (await isServed(dataDir)) throw new Error(`A server runs on ${dataDir}: stop the service first`)
  await readBackupRecord(folder)
  const data = join(dataDir, 'mongodb')
  const aside = `${data}.before-${now.toISOString().replace(/[:.]/g, '')}`
  const hadData = existsSync(data) && (await readdir(data)).length > 0
  await mkdir(dataDir, { recursive: true })
  // Copied beside it first: what is there stays in place until the copy is complete.
  const draft = `${data}.restoring`
  await rm(draft, { recursive: true, force: true })
  await cp(join(folder, 'mongodb'), draft, { recursive: true })
  if (hadData) await rename(data, aside)
  else await rm(data, { recursive: true, force: true })
  await rename(draft, data)
  return hadData ? aside : null
}

/** @throws Error for a folder that is no backup, or an incomplete one */
export async function readBackupRecord(folder: string): Promise<BackupRecord> {
  try {
    return JSON.parse(await readFile(recordPath(folder), 'utf8'))
  } catch {
    throw new Error(`There is no complete backup in ${folder}`)
  }
}

/** True while a server runs on the embedded database of a folder. */
export async function isServed(dataDir: string): Promise<boolean> {
  const running = await readFile(join(dataDir, 'mongod.json'), 'utf8').catch(() => '{}')
  const { pid } = JSON.parse(running) as { pid?: number }
  return pid !== undefined && isAlive(pid)
}

function recordPath(folder: string): string {
  return join(folder, 'backup.json')
}

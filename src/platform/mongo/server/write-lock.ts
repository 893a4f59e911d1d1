import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { mongo } from 'mongoose'
import { ifMissing } from '../../../core/file-errors.ts'
import { isAlive } from '../../process.ts'
import { withServer } from './mongod.ts'

/**
 * Runs `work` while the embedded server blocks all writes, so that its files form a consistent snapshot. Clients'
 * writes wait until `work` has finished.
 *
 * @throws Error if another process is already blocking writes
 */
export async function withWritesBlocked<T>(
  dataDir: string,
  admin: mongo.Db,
  work: () => Promise<T>,
): Promise<T> {
  await releaseAbandonedLock(dataDir, admin)
  await claim(dataDir)
  try {
    await admin.command({ fsync: 1, lock: true })
    return await work()
  } finally {
    await unlock(admin)
    await rm(holderPath(dataDir), { force: true })
  }
}

/** @throws Error if another process is already blocking writes */
async function claim(dataDir: string): Promise<void> {
  // The file is linked only once it is complete, so that a killed process never leaves a claim without a process id.
  const draft = `${holderPath(dataDir)}.${process.pid}`
  await writeFile(draft, String(process.pid))
  try {
    await link(draft, holderPath(dataDir))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new Error('Another backup is in progress')
  } finally {
    await rm(draft, { force: true })
  }
}

/** Resumes writes if the process that blocked them was killed. Otherwise, the server would block them forever. */
export async function releaseAbandonedLock(dataDir: string, server: number | mongo.Db): Promise<void> {
  const holder = await readFile(holderPath(dataDir), 'utf8').catch((error) => ifMissing(error, ''))
  if (holder === '' || isAlive(Number(holder))) return
  await (typeof server === 'number' ? withServer(server, unlock) : unlock(server))
  await rm(holderPath(dataDir), { force: true })
}

/** Unlocks the server repeatedly until its lock count is zero. An error means that the server was not locked. */
async function unlock(admin: mongo.Db): Promise<void> {
  for (;;) {
    const { lockCount } = await admin.command({ fsyncUnlock: 1 }).catch(() => ({ lockCount: 0 }))
    if (Number(lockCount) === 0) return
  }
}

function holderPath(dataDir: string): string {
  return join(dataDir, 'writes-held-by')
}

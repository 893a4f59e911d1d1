import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ifMissing } from '../../../core/file-errors.ts'
import { commandOf, freePort, isAlive } from '../../process.ts'
import { becomePrimary, findMongod, launch, packagedMongod, shutDown, urlOf } from './mongod.ts'
import { releaseAbandonedLock } from './write-lock.ts'

/** The service's own MongoDB server, which runs on a data directory. */
export interface EmbeddedMongod {
  url: string
  /** Stops using the server. The last process to do so shuts it down. */
  close(): Promise<void>
}

/** A running server's process id and port. */
interface Running {
  pid: number
  port: number
}

/**
 * The content of `DATA_DIR/mongod.json`, which records the most recently started server. Anyone with write access to
 * the folder can forge this file, so it does not name the program to run, and {@link serverOf} inspects the process
 * itself before the server is joined or stopped.
 */
interface RunningRecord extends Running {
  /** True if the server was the packaged `mongod`. Another MongoDB release may be unable to read its data. */
  packaged: boolean
}

/** Folder into which a restore copies the backup before replacing the existing data. */
export const restoringFolder = 'mongodb.restoring'
const startTimeoutMilliseconds = 60_000
const stopTimeoutMilliseconds = 20_000
const reviveEveryMilliseconds = 1000

/**
 * Attaches to the server that runs on this data directory, or starts a single-node replica set on a free loopback port. A
 * killed server's data is recovered from the journal.
 *
 * @throws Error if no `mongod` is found, if it does not start in time, or if a restore was interrupted
 */
export async function openEmbeddedMongod(folder: string): Promise<EmbeddedMongod> {
  if (existsSync(join(folder, restoringFolder)) && !existsSync(join(folder, 'mongodb')))
    throw new Error(`A restore of ${folder} was cut short: run "partnerctl db restore" again`)
  await mkdir(join(folder, 'mongodb'), { recursive: true })
  // Symbolic links are resolved, so that processes that reach the folder by different paths find the same server.
  const dataDir = await realpath(folder)
  const users = join(dataDir, 'users')
  await mkdir(users, { recursive: true })
  const mark = join(users, String(process.pid))
  await writeFile(mark, '')
  const deadline = Date.now() + startTimeoutMilliseconds
  for (;;) {
    const running = (await joinRunning(dataDir)) ?? (await adopt(dataDir)) ?? (await start(dataDir))
    if (running) {
      const guard = guardServer(dataDir)
      return {
        url: urlOf(running.port),
        async close() {
          await guard.end()
          await leave(dataDir, users, mark)
        },
      }
    }
    if (Date.now() > deadline)
      throw new Error(`The embedded mongod did not start; see ${join(dataDir, 'mongod.log')}`)
    await Bun.sleep(100)
  }
}

/**
 * Restarts the server on its previous port if it was killed or ran out of disk space, so that its clients can
 * reconnect. Also resumes writes if a killed backup left them blocked.
 */
function guardServer(dataDir: string) {
  let reviving: Promise<void> | undefined
  const revive = async () => {
    const running = await runningServer(dataDir)
    if (running) await releaseAbandonedLock(dataDir, running.port)
    else await start(dataDir)
  }
  const timer = setInterval(() => {
    reviving ??= revive()
      .catch(() => {}) // On a full disk, even the restart may fail. It is retried after the next interval.
      .finally(() => {
        reviving = undefined
      })
  }, reviveEveryMilliseconds)
  timer.unref()
  return {
    /** Stops watching the server and waits for any restart in progress to finish. */
    async end(): Promise<void> {
      clearInterval(timer)
      await reviving
    },
  }
}

function recordPath(dataDir: string): string {
  return join(dataDir, 'mongod.json')
}

async function readRecord(dataDir: string): Promise<Partial<RunningRecord>> {
  const text = await readFile(recordPath(dataDir), 'utf8').catch((error) => ifMissing(error, '{}'))
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536
}

/** Returns the recorded server if it is still running on this data directory, otherwise null. */
export async function runningServer(dataDir: string): Promise<Running | null> {
  const { pid } = await readRecord(dataDir)
  return serverOf(dataDir, Number(pid))
}

/** Returns the server that the process with this id runs on this data directory; null if it runs none. */
async function serverOf(dataDir: string, pid: number): Promise<Running | null> {
  if (!isAlive(pid)) return null
  const command = `${await commandOf(pid)} `
  const port = Number(/ --port (\d+) /.exec(command)?.[1])
  return port && command.includes(` --dbpath ${join(dataDir, 'mongodb')} `) ? { pid, port } : null
}

async function joinRunning(dataDir: string): Promise<Running | null> {
  const running = await runningServer(dataDir)
  return running && (await becomePrimary(running.port, 3000)) ? running : null
}

/**
 * Adopts a server that was never recorded, because the process that started it died before recording it. The lock file
 * in the data folder identifies the server.
 */
async function adopt(dataDir: string): Promise<Running | null> {
  const holder = await lockHolder(dataDir)
  if ((await readRecord(dataDir)).pid === holder) return null
  const running = await serverOf(dataDir, holder)
  if (!running || !(await becomePrimary(running.port, 3000))) return null
  const packaged = (await commandOf(holder)).startsWith(`${packagedMongod()} `)
  await writeRecord(dataDir, { ...running, packaged })
  return running
}

/** Returns the id of the process that holds the lock on the data; NaN or an exited process's id if none does. */
async function lockHolder(dataDir: string): Promise<number> {
  const lock = join(dataDir, 'mongodb', 'mongod.lock')
  return Number.parseInt(await readFile(lock, 'utf8').catch((error) => ifMissing(error, '')), 10)
}

/**
 * Starts a server. Returns null if the server does not come up, for example because another process has just started
 * one that holds the lock on the data. The server is recorded before it is up, so that other processes can find it even
 * if this process is killed.
 */
async function start(dataDir: string): Promise<Running | null> {
  const record = await readRecord(dataDir)
  const program = findMongod(record.packaged === true)
  const port = await freePort(isPort(record.port) ? record.port : undefined)
  const child = launch(program, dataDir, port)
  if (child.pid === undefined) return null
  const running = { pid: child.pid, port }
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  if (!(await waitForLock(dataDir, child.pid))) return null
  await writeRecord(dataDir, { ...running, packaged: program === packagedMongod() })
  const isUp = await Promise.race([becomePrimary(port, startTimeoutMilliseconds), ended.then(() => false)])
  return isUp ? running : null
}

/** Waits until the server has written its process id into the lock file. Returns false if the server exits first. */
async function waitForLock(dataDir: string, pid: number): Promise<boolean> {
  while (isAlive(pid)) {
    if ((await lockHolder(dataDir)) === pid) return true
    await Bun.sleep(20)
  }
  return false
}

async function writeRecord(dataDir: string, record: RunningRecord): Promise<void> {
  const draft = `${recordPath(dataDir)}.${process.pid}`
  await writeFile(draft, JSON.stringify(record))
  await rename(draft, recordPath(dataDir))
}

/** Stops using the server, and shuts it down if no other process uses it, no matter which process started it. */
async function leave(dataDir: string, users: string, mark: string): Promise<void> {
  await rm(mark, { force: true })
  const others = (await readdir(users)).filter((name) => isAlive(Number(name)))
  const running = await runningServer(dataDir)
  if (others.length > 0 || !running) return
  const { pid, port } = running
  await shutDown(port).catch(() => process.kill(pid, 'SIGTERM'))
  const deadline = Date.now() + stopTimeoutMilliseconds
  while (isAlive(pid) && Date.now() < deadline) await Bun.sleep(20)
}

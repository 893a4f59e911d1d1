import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { commandOf, freePort, isAlive } from '../process.ts'
import { becomePrimary, findMongod, launch, packagedMongod, shutDown, urlOf } from './mongod.ts'
import { releaseAbandonedLock } from './write-lock.ts'

/** The service's own MongoDB server, joined or started on a data directory. */
export interface EmbeddedMongod {
  url: string
  /** Leaves the server. The last process to leave shuts it down. */
  close(): Promise<void>
}

/** A server that runs on a data directory. */
interface Running {
  pid: number
  port: number
}

/**
 * The content of `DATA_DIR/mongod.json`, which records the server that ran last. Anyone with write access to the folder
 * can forge this file, so it names no program, and {@link serverOf} inspects the process itself before the server is
 * joined or stopped.
 */
interface RunningRecord extends Running {
  /** True if the server was the packaged `mongod`. Another MongoDB release may be unable to read its data. */
  packaged: boolean
}

/** Folder into which a restore copies the data before the copy replaces the existing data. */
export const restoringFolder = 'mongodb.restoring'
const startTimeoutMilliseconds = 60_000
const stopTimeoutMilliseconds = 20_000
const reviveEveryMilliseconds = 1000

/**
 * Joins the server that runs on this data directory, or starts a single-node replica set on a free loopback port. The
 * journal recovers a killed server's data.
 *
 * @throws Error if there is no `mongod`, if it does not come up, or if a restore was cut short
 */
export async function openEmbeddedMongod(folder: string): Promise<EmbeddedMongod> {
  if (existsSync(join(folder, restoringFolder)) && !existsSync(join(folder, 'mongodb')))
    throw new Error(`A restore of ${folder} was cut short: run "partnerctl db restore" again`)
  await mkdir(join(folder, 'mongodb'), { recursive: true })
  // The real path lets processes that reach the folder through different links recognize the same server.
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
 * Restarts a server that was killed or ran out of disk space, on its previous port, so that its clients find it again.
 * Also resumes writes that a killed backup left blocked.
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
      .catch(() => {}) // On a full disk, even a restart may fail. It is retried at the next interval.
      .finally(() => {
        reviving = undefined
      })
  }, reviveEveryMilliseconds)
  timer.unref()
  return {
    /** Stops watching and waits for a restart in progress. */
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
  try {
    return Object(JSON.parse(await readFile(recordPath(dataDir), 'utf8')))
  } catch {
    return {}
  }
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) < 65_536
}

/** Returns the recorded server if it still runs on this data directory, otherwise null. */
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
 * Adopts a server whose starting process was killed before recording it. The lock file in the data folder identifies
 * the server.
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

/** Returns the id of the process that holds the lock on the data; NaN or an ended process's id if none does. */
async function lockHolder(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'mongodb', 'mongod.lock'), 'utf8').catch(() => ''), 10)
}

/**
 * Starts a server. Returns null if another process was faster, because its server then holds the lock on the data, or
 * if the server does not come up. The server is recorded before it is up, so that other processes find it even if this
 * process is killed.
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

/** Waits until the server has written its process id into the lock file. Returns false if the server ends first. */
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

/** Leaves the server, and shuts it down if no other process uses it, whichever process started or restarted it. */
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

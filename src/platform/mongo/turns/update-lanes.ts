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
 * Requests that change the same document take turns before they enter a lane. Otherwise, their updates would conflict at
 * the server, and a request that had read the document early would start over after each update ahead of it.
 */
class UpdateLanes {
  private readonly documents: KeyedQueue
  private readonly lanes: KeyedQueue

  /** @param timeoutMilliseconds maximum time that an update may wait for its turn, and then for a lane */
  constructor(timeoutMilliseconds: number) {
    this.documents = new KeyedQueue(timeoutMilliseconds, busy)
    this.lanes = new KeyedQueue(timeoutMilliseconds, busy, lanes)
  }

  takeTurn<T>(document: string, work: () => Promise<T>): Promise<T> {
    return this.documents.run(document, work)
  }

  enter<T>(update: () => Promise<T>): Promise<T> {
    return this.lanes.run('', update)
  }
}

/** The lanes of each client, whose connections all of its databases share. */
const lanesOf = new WeakMap<mongo.MongoClient, UpdateLanes>()

function lanesFor(db: Db): UpdateLanes {
  const client = db.getClient()
  const ofClient = lanesOf.get(client) ?? new UpdateLanes(timeLimitOn(db, queueTimeoutMilliseconds))
  lanesOf.set(client, ofClient)
  return ofClient
}

/**
 * Reads and changes a document outside transactions, one request after the other within this process. Each of its updates
 * goes through {@link inLane}.
 *
 * @param document names the document, for example by its collection, its owner and its id
 * @throws DomainError `conflict` with a retry time if the wait for the turn lasts longer than 6 s
 */
export function inTurn<T>(db: Db, document: string, work: () => Promise<T>): Promise<T> {
  return lanesFor(db).takeTurn(`${db.name}/${document}`, work)
}

/**
 * Carries out an update outside transactions of a document that transactions change too; see {@link UpdateLanes}.
 *
 * @throws DomainError `conflict` with a retry time if the wait for a lane lasts longer than 6 s
 */
export function inLane<T>(db: Db, update: () => Promise<T>): Promise<T> {
  return lanesFor(db).enter(update)
}

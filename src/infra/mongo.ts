import AsyncLock from 'async-lock'
import mongoose, { type ClientSession, type Connection, type Model, type Schema } from 'mongoose'
import { DomainError } from '../errors.ts'
import { TimeoutError, within } from './within.ts'

export type Db = Connection
export type Session = ClientSession
type Collection = mongoose.Collection

const defaultDatabase = 'partner'

/**
 * How long anybody waits for the database, so that no request hangs: for a connection, for a response, for the
 * majority, for a transaction with all its tries, and for the turn before it. Together they stay under what a
 * client waits.
 */
const limits = { waitQueueTimeoutMS: 4000, socketTimeoutMS: 4000 }
const majorityTimeoutMilliseconds = 4000
const transactionTimeoutMilliseconds = 7000
const queueTimeoutMilliseconds = 6000

/**
 * Opens the database. Every write is acknowledged by a majority and journaled, every read sees only
 * what such a write left, so that nothing once shown can be taken back by a failover.
 *
 * @param isPatient no operation has a time limit: for what grows with the data, such as building an index
 */
export async function openMongo(url: string, isPatient = false): Promise<Db> {
  return mongoose
    .createConnection(url, {
      dbName: databaseNameOf(url),
      autoCreate: false,
      autoIndex: false,
      bufferCommands: false,
      maxPoolSize: 50,
      serverSelectionTimeoutMS: 5000,
      ...(isPatient ? {} : limits),
      // A primary that neither answers nor closes is given up after the sum of both.
      heartbeatFrequencyMS: 2000,
      connectTimeoutMS: 5000,
      readPreference: 'primary',
      readConcern: { level: 'majority' },
      writeConcern: {
        w: 'majority',
        journal: true,
        ...(isPatient ? {} : { wtimeoutMS: majorityTimeoutMilliseconds }),
      },
    })
    .asPromise()
}

/**
 * The database that a connection string names, or the default one. Not parsed as an address: the hosts are several,
 * and a password may hold almost anything.
 */
export function databaseNameOf(url: string): string {
  return decodeURIComponent(/^[a-z+]+:\/\/[^/?]*\/([^/?]*)/.exec(url)?.[1] ?? '') || defaultDatabase
}

/** What a collection that an earlier version wrote needs before it has its new indexes. */
export interface Upgrade<T> {
  /** The fields that a document of an earlier version lacks. */
  fill(document: T): Partial<T>
  /** Indexes that no longer serve and would refuse what is now allowed. */
  retiredIndexes: string[]
}

const upgrades = new WeakMap<object, Upgrade<mongoose.mongo.BSON.Document>>()

/** A function that gives the model of a collection on a connection, made once per connection. */
export function modelOf<T>(
  collection: string,
  schema: Schema<T>,
  upgrade?: Upgrade<T>,
): (db: Db) => Model<T> {
  if (upgrade) upgrades.set(schema, upgrade as Upgrade<mongoose.mongo.BSON.Document>)
  schema.set('collection', collection)
  schema.set('versionKey', false)
  schema.set('minimize', false)
  schema.set('strictQuery', 'throw')
  return (db) => (db.models[collection] as Model<T> | undefined) ?? db.model<T>(collection, schema)
}

/** What {@link prepareCollections} asks of a model. */
export interface Preparable {
  collection: Collection
  schema: { indexes(): unknown[] }
  createCollection(): Promise<unknown>
  createIndexes(): Promise<unknown>
}

/**
 * Creates collections and indexes that are missing: a transaction may not create any. What exists is left
 * alone, because even asking to create it again would lock the database against running transactions.
 */
export async function prepareCollections(db: Db, models: ((db: Db) => Preparable)[]): Promise<void> {
  const existing = new Set((await db.listCollections()).map(({ name }) => name))
  for (const model of models.map((of) => of(db))) {
    if (!existing.has(model.collection.name)) await model.createCollection()
    if ((await missingIndexes(model)).length === 0) continue
    const upgrade = upgrades.get(model.schema)
    if (upgrade) await upgradeCollection(model.collection, upgrade)
    await model.createIndexes()
  }
}

/** Runs before the indexes are built, and again when it was cut short: they are built last. */
async function upgradeCollection(
  collection: Collection,
  { fill, retiredIndexes }: Upgrade<mongoose.mongo.BSON.Document>,
): Promise<void> {
  const present = (await collection.indexes()).map(({ name }) => name as string)
  for await (const document of collection.find())
    await collection.updateOne({ _id: document._id }, { $set: fill(document) })
  for (const name of retiredIndexes.filter((retired) => present.includes(retired)))
    await collection.dropIndex(name)
}

/** The names of the indexes that a collection should have and has not. */
export async function missingIndexes(model: Preparable): Promise<string[]> {
  const wanted = (model.schema.indexes() as [object, { name: string }][]).map(([, { name }]) => name)
  const present = new Set((await model.collection.indexes()).map(({ name }) => name))
  return wanted.filter((name) => !present.has(name))
}

const queues = new AsyncLock({ timeout: queueTimeoutMilliseconds, maxPending: 10_000 })

/**
 * Runs `work` in one transaction and gives its result once a majority has it.
 *
 * Writers that would meet on the same document pass the same `queue` and take turns inside this process;
 * writers of several processes meet as write conflicts, and the loser starts over after a short pause.
 * `work` may therefore run more than once, and does nothing but read and write through its session: waiting
 * for anything else could wait for a lock that waits for this transaction.
 *
 * @throws DomainError `conflict` with a retry time when the turn does not come within 6 s
 */
export async function inTransaction<T>(
  db: Db,
  queue: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  try {
    return await queues.acquire(`${db.name}/${queue}`, () => runTransaction(db, work))
  } catch (error) {
    if (error instanceof Error && /^async-lock timed out|^Too many pending/.test(error.message)) throw busy()
    throw error
  }
}

/**
 * Reads several times from one moment of the database: what commits meanwhile is not seen. Short, like every
 * transaction; what is read is acknowledged by a majority.
 */
export function inSnapshot<T>(db: Db, read: (session: Session) => Promise<T>): Promise<T> {
  return runTransaction(db, read)
}

async function runTransaction<T>(db: Db, work: (session: Session) => Promise<T>): Promise<T> {
  const deadline = Date.now() + transactionTimeoutMilliseconds - 1000
  const session = await db.startSession()
  let attempt = 0
  const tries = session.withTransaction(
    async () => {
      if (attempt > 0) await pause(attempt)
      if (Date.now() > deadline) throw busy()
      attempt += 1
      return work(session)
    },
    {
      readConcern: { level: 'snapshot' },
      writeConcern: { w: 'majority', journal: true, wtimeoutMS: majorityTimeoutMilliseconds },
      readPreference: 'primary',
    },
  )
  try {
    return await within(tries, transactionTimeoutMilliseconds)
  } finally {
    // Not waited for: an open transaction is aborted, and a driver that goes on trying finds its session ended.
    session.endSession().catch(() => {})
  }
}

/**
 * Runs `work` in one transaction that everything it asks of a model joins by itself: for administrators' acts. What
 * opens a transaction of its own does not join. `work` may run more than once.
 */
export async function inOneTransaction<T>(db: Db, work: (session: Session) => Promise<T>): Promise<T> {
  mongoose.set('transactionAsyncLocalStorage', true)
  return db.transaction(work)
}

function pause(attempt: number): Promise<void> {
  return Bun.sleep(Math.random() * Math.min(100, 2 ** attempt))
}

/** Refuses what others changed meanwhile, again and again, or whose turn does not come. */
export function busy(): DomainError {
  return new DomainError('conflict', 'Another request is changing the same data; try again', [], 1)
}

const { mongo } = mongoose
const unreachable = [
  mongo.MongoNetworkError,
  mongo.MongoServerSelectionError,
  TimeoutError,
  mongo.MongoWriteConcernError,
]

/** True when the database could not be reached, or was lost on the way: the same request may work soon. */
export function isUnreachable(error: unknown): boolean {
  return unreachable.some((kind) => error instanceof kind) || isNamed(error, 'MongoWaitQueueTimeoutError')
}

function isNamed(error: unknown, name: string): boolean {
  return error instanceof Error && error.name === name
}

/** True when a write met a document that is already there under a unique index. */
export function isDuplicate(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 11000
}

/** True when a write broke the unique index of this name. */
export function breaksUniqueIndex(error: unknown, index: string): boolean {
  return isDuplicate(error) && (error as Error).message.includes(`index: ${index} `)
}

/**
 * The writes of a bulk that failed while others of it were made, by their place in it.
 *
 * @throws the error itself, where it is not about single writes
 */
export function failedWrites(error: unknown): { index: number; message: string }[] {
  if (!(error instanceof mongo.MongoBulkWriteError)) throw error
  return [error.writeErrors].flat().map(({ index, errmsg }) => ({ index, message: errmsg ?? error.message }))
}

/** The size of an object as a stored document. */
export function documentBytes(value: object): number {
  return mongoose.mongo.BSON.calculateObjectSize(value as mongoose.mongo.BSON.Document)
}

import DataLoader from 'dataloader'
import type { Model, PipelineStage } from 'mongoose'
import type { Db } from './connection.ts'

/** Maximum number of documents that one query looks up. */
const maxKeys = 100
/** Look-ups wait while this many queries are in progress. Two keep the database busy while the next one is sent. */
const maxConcurrentQueries = 2
/** Maximum time that look-ups wait for earlier queries, so that slow queries do not hold up later look-ups. */
const maxWaitMilliseconds = 20

/** Returns the document with a key, or null. Callers must not modify it, because equal look-ups may share it. */
type LookUp<Key, Document> = (db: Db, key: Key) => Promise<Document | null>

/**
 * Returns a function that looks up documents by key. If the maximum number of queries is in progress, further look-ups
 * wait for a query to finish and are then sent as a single query. A query for ten documents costs little more than a
 * query for one, so without batching, a busy process would spend much of its time sending commands. No look-up joins a
 * query that has already been sent, because that query could miss a change that the look-up must see.
 *
 * @param find returns the documents with any of these keys, in any order
 * @param nameOf returns the same name for a key and for the document with that key
 */
export function batchedLookUp<Key, Document extends Key>(
  find: (db: Db, keys: Key[]) => Promise<Document[]>,
  nameOf: (key: Key) => string | number,
): LookUp<Key, Document> {
  const loaders = new WeakMap<Db, DataLoader<Key, Document | null>>()
  const loaderOf = (db: Db) => {
    let underWay = 0
    let waiting = Promise.withResolvers<void>()
    const load = async (keys: readonly Key[]) => {
      underWay += 1
      try {
        const found = new Map((await find(db, [...keys])).map((document) => [nameOf(document), document]))
        return keys.map((key) => found.get(nameOf(key)) ?? null)
      } finally {
        underWay -= 1
        waiting.resolve()
        waiting = Promise.withResolvers<void>()
      }
    }
    const schedule = (send: () => void) => {
      if (underWay < maxConcurrentQueries) {
        setImmediate(send)
        return
      }
      const late = setTimeout(waiting.resolve, maxWaitMilliseconds)
      waiting.promise.then(() => {
        clearTimeout(late)
        send()
      })
    }
    return new DataLoader(load, { cache: false, maxBatchSize: maxKeys, batchScheduleFn: schedule })
  }
  return (db, key) => {
    const loader = loaders.get(db) ?? loaderOf(db)
    loaders.set(db, loader)
    return loader.load(key)
  }
}

interface OfHost {
  owner_id: number
  id: number
}

/**
 * Returns a function that looks up a host's documents by id; see {@link batchedLookUp}. The query has one branch for each
 * host. With one list of hosts and one list of ids, the server would read every combination of them, and a hundred
 * sandboxes, which all use the same ids, would read 10,000 documents for a hundred.
 */
export function lookUpById<Document extends OfHost>(
  // biome-ignore lint/suspicious/noExplicitAny: a projection may leave out any of the model's fields
  modelOf: (db: Db) => Model<any>,
  projection: Record<string, 0 | 1> = {},
): LookUp<OfHost, Document> {
  const find = (db: Db, keys: OfHost[]) =>
    modelOf(db).collection.find<Document>(withAnyOf(keys), { projection, hint: byId }).toArray()
  return batchedLookUp(find, nameOfHosts)
}

/**
 * Like {@link lookUpById}, for documents that are read together with others.
 *
 * @param stages the stages that add the others to each document
 */
export function lookUpByIdWith<Document extends OfHost>(
  // biome-ignore lint/suspicious/noExplicitAny: the stages add fields that the model does not have
  modelOf: (db: Db) => Model<any>,
  stages: (db: Db) => PipelineStage.Lookup[],
): LookUp<OfHost, Document> {
  const find = (db: Db, keys: OfHost[]) =>
    modelOf(db)
      .collection.aggregate<Document>([{ $match: withAnyOf(keys) }, ...stages(db)], { hint: byId })
      .toArray()
  return batchedLookUp(find, nameOfHosts)
}

/** Without this hint, the server may choose an index on the id alone, and read the documents of all hosts that have it. */
const byId = { owner_id: 1, id: 1 }

function withAnyOf(keys: OfHost[]) {
  const byHost = Map.groupBy(keys, ({ owner_id }) => owner_id)
  const branches = [...byHost].map(([owner_id, ofHost]) => ({
    owner_id,
    id: { $in: ofHost.map(({ id }) => id) },
  }))
  return { $or: branches }
}

/**
 * Matches, in a stage that adds documents of the same owner, the document with an id. The stage names the owner `$$owner`.
 * The index on the owner and the id finds it.
 */
export function ofOwner(id: string) {
  return { $expr: { $and: [{ $eq: ['$owner_id', '$$owner'] }, { $eq: ['$id', id] }] } }
}

function nameOfHosts({ owner_id, id }: OfHost): string {
  return `${owner_id}/${id}`
}

import type { CommandStartedEvent, Document } from 'mongodb'
import type { Db } from '../../src/platform/mongo/connection.ts'

/** A statement in a transaction: its command, its collection and the hosts it names. */
export interface Statement {
  transaction: string
  /** For example `insert bookings`. */
  text: string
  /** Host ids, one for each document or filter; undefined if it names no single host. */
  hosts: (number | undefined)[]
}

/** Functions that return a command's documents or filters, which name the hosts. */
const partsOf: Record<string, (command: Document) => Document[]> = {
  insert: ({ documents }) => documents,
  find: ({ filter }) => [filter],
  count: ({ query }) => [query],
  distinct: ({ query }) => [query],
  aggregate: ({ pipeline }) => matchesOf(pipeline),
  update: ({ updates }) => updates.map(({ q }: Document) => q),
  delete: ({ deletes }) => deletes.map(({ q }: Document) => q),
  findAndModify: ({ query }) => [query],
}

/** Returns the first filter of a pipeline, and those of the pipelines with which it looks into other collections. */
function matchesOf(pipeline: Document[]): Document[] {
  const others = pipeline
    .filter(({ $lookup }) => $lookup)
    .flatMap(({ $lookup }) => matchesOf($lookup.pipeline))
  return [pipeline[0]?.$match ?? {}, ...others]
}

/** Commands that continue or end earlier work and therefore name no host. */
const endings = new Set(['getMore', 'killCursors', 'commitTransaction', 'abortTransaction'])

/**
 * Collects every statement that is sent within a transaction, as the driver reports it; the database's connection
 * string must contain `monitorCommands=true`.
 */
export function listenToTransactions(db: Db) {
  const statements: Statement[] = []
  const listen = ({ commandName, command }: CommandStartedEvent) => {
    if (command.autocommit !== false || endings.has(commandName)) return
    const collection = command[commandName] as string
    const parts = partsOf[commandName]?.(command) ?? [{}]
    statements.push({
      transaction: `${command.lsid.id.toString('hex')}/${command.txnNumber}`,
      text: `${commandName} ${collection}`,
      hosts: parts.map((part) => hostOf(collection, part)),
    })
  }
  const client = db.getClient()
  client.on('commandStarted', listen)
  return {
    statements,
    end: () => client.off('commandStarted', listen),
  }
}

/** Returns the host that a document or filter names. Host clocks have the host id as their `_id`. */
function hostOf(collection: string, part: Document): number | undefined {
  const host = collection === 'host_clocks' ? part._id : (part.owner_id ?? part.host_id)
  return typeof host === 'number' ? host : undefined
}

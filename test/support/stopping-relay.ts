import { BSON } from 'mongodb'
import { startRelay } from './relay.ts'

/** A command on its way to the server. */
export interface RelayedCommand {
  /** Such as `find` or `commitTransaction`. */
  name: string
  collection: unknown
  /** The owner that the command names in its filter; undefined if it names none. */
  ownerId: number | undefined
  /** Names the transaction that the command belongs to; null outside of transactions. */
  transaction: string | null
}

/** What becomes of a command: it goes on, it never arrives, or it arrives and its answer is kept back. */
export type Fate = 'passes' | 'is kept back' | 'is never answered'

/** Frames with this code carry commands; others belong to the handshake. */
const commandFrame = 2013

/**
 * Starts a relay before a MongoDB server that stops a process in the middle of its work: it keeps back a command, or the
 * answer to it, so that the process waits until it is killed. Each command is shown to `decide` before it is passed on.
 *
 * @param url the server's connection string
 */
export async function startStoppingRelay(url: string, decide: (command: RelayedCommand) => Fate) {
  const stopped = Promise.withResolvers<void>()
  const { url: relayed, stop } = await startRelay(url, (client, upstream) => {
    let fate: Fate = 'passes'
    let unread = Buffer.alloc(0)
    client.on('data', (bytes: Buffer) => {
      unread = Buffer.concat([unread, bytes])
      while (unread.length >= 4 && unread.length >= unread.readInt32LE(0)) {
        const frame = unread.subarray(0, unread.readInt32LE(0))
        unread = unread.subarray(frame.length)
        if (fate !== 'passes') continue
        const command = commandOf(frame)
        if (command) fate = decide(command)
        if (fate !== 'is kept back') upstream.write(frame)
        if (fate === 'is kept back') stopped.resolve()
      }
    })
    upstream.on('data', (bytes) => {
      if (fate === 'passes') client.write(bytes)
      // The server has done what it was told, and the process does not know.
      else stopped.resolve()
    })
  })
  return {
    url: relayed,
    /** Resolves once a command or an answer has been kept back. */
    stopped: stopped.promise,
    stop,
  }
}

/** Returns the command in a frame, or null if it has none. */
function commandOf(frame: Buffer): RelayedCommand | null {
  if (frame.readInt32LE(12) !== commandFrame) return null
  // A header of 16 bytes, flags of four, and the kind of the first section, which is the command itself.
  const command = BSON.deserialize(frame.subarray(21, 21 + frame.readInt32LE(21)))
  const [name, collection] = Object.entries(command)[0] as [string, unknown]
  const isInTransaction = command.autocommit === false
  const transaction = isInTransaction ? `${command.lsid.id.toString('hex')} ${command.txnNumber}` : null
  const filter = command.filter ?? command.query ?? command.updates?.[0]?.q
  return { name, collection, ownerId: filter?.owner_id, transaction }
}

import { mongo } from 'mongoose'
import { expect, test } from 'vitest'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { rowReader } from '../../../src/platform/mongo/driver/raw-rows.ts'
import { onScopeEnd, ownDatabase } from '../../support/databases.ts'
import { startMongoRelay } from '../../support/mongo-relay.ts'

/** The changes to the driver (`src/platform/mongo/driver/README.md`). Each test fails without its change. */

const url = await ownDatabase()
const direct = await openMongo(url)
const notes = direct.collection('notes')
await notes.insertOne({ text: 'Grüße', number: 7 })
onScopeEnd(() => direct.close())

/** Opens the database through a relay of its own, without the driver's own repetition of writes. */
async function openRelayed() {
  const relay = await startMongoRelay(url)
  const db = await openMongo(`${relay.url}&retryWrites=false&retryReads=false`, true)
  onScopeEnd(async () => {
    await db.close(true)
    relay.stop()
  })
  return { relay, db }
}

const admin = direct.getClient().db('admin')

/** Returns the ids of the commands with the comment that are in progress in the server. */
async function inProgress(comment: string): Promise<number[]> {
  const { inprog } = await admin.command({ currentOp: true, 'command.comment': comment })
  return inprog.map(({ opid }: { opid: number }) => opid)
}

/** A condition that keeps a query in progress; a single long sleep would not end when the operation is killed. */
const $where = 'for (let round = 0; round < 500; round += 1) sleep(10); return true'

test('a reset connection is an error of the network, and all transactions that it breaks may be repeated', async () => {
  const { relay, db } = await openRelayed()
  const comment = crypto.randomUUID()
  const read = async () => {
    const session = await db.startSession()
    session.startTransaction()
    return db
      .collection('notes')
      .find({ $where }, { session, comment })
      .toArray()
      .then(
        () => null,
        (error: Error) => error,
      )
  }
  const reads = Array.from({ length: 5 }, read)
  await expect.poll(() => inProgress(comment)).toHaveLength(5)
  relay.breakAll('reset')
  const seen = (await Promise.all(reads)).map((error) => ({
    isOfNetwork: error instanceof mongo.MongoNetworkError,
    mayBeRepeated: error instanceof mongo.MongoError && error.hasErrorLabel('TransientTransactionError'),
  }))
  // Otherwise, the sessions could not be ended before the server has noticed that their reads are no longer wanted.
  for (const op of await inProgress(comment)) await admin.command({ killOp: 1, op })
  expect(seen).toEqual(Array(5).fill({ isOfNetwork: true, mayBeRepeated: true }))
})

test('a write that waits for room in a connection fails once the server is gone', async () => {
  const { relay, db } = await openRelayed()
  await db.collection('notes').findOne()
  relay.goDeaf()
  const { promise: isBegun, resolve: begin } = Promise.withResolvers<void>()
  db.getClient().on('commandStarted', ({ commandName }) => {
    if (commandName === 'insert') begin()
  })
  // Larger than what the system buffers for a connection.
  const write = db.collection('notes').insertOne({ text: 'x'.repeat(15_000_000) })
  const outcome = write.then(
    () => 'written',
    (error: Error) => error instanceof mongo.MongoNetworkError,
  )
  await isBegun
  relay.breakAll('close')
  expect(await outcome).toBe(true)
})

test('a reply whose rows are decoded by their reader is not decoded once more for an event', async () => {
  const replies: unknown[] = []
  const client = direct.getClient()
  const note = (event: { commandName: string; reply: unknown }) => {
    if (event.commandName === 'find') replies.push(event.reply)
  }
  client.on('commandSucceeded', note)
  const [bytes] = await notes
    .find<Buffer>({}, { projection: { _id: 0, text: 1, number: 1 }, raw: true })
    .toArray()
  client.off('commandSucceeded', note)
  const read = rowReader<{ text: string; number: number }>(['text', 'number'])
  expect({ row: read(bytes as Buffer), replies }).toEqual({
    row: { text: 'Grüße', number: 7 },
    replies: [{ ok: 1 }],
  })
})

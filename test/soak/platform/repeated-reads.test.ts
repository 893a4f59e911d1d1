import { afterAll, expect, test } from 'vitest'
import { type Db, openMongo } from '../../../src/platform/mongo/connection.ts'
import { inSnapshot } from '../../../src/platform/mongo/turns/transactions.ts'
import { startReplicaSet } from '../../support/replica-set.ts'

const replicas = await startReplicaSet(1, ['--setParameter', 'enableTestCommands=1'])
const db = await openMongo(replicas.url)
const numbers = db.collection('numbers')
await numbers.insertMany(Array.from({ length: 250 }, (_, number) => ({ number })))
afterAll(async () => {
  await db.close()
  await replicas.stop()
})

const stepsDown = { errorCode: 11_602 }
const disconnects = { closeConnection: true }
/** One failure more than the driver repeats by itself. */
const failures = 2

async function failNext(command: string, times: number, how: object): Promise<void> {
  const admin = db.getClient().db('admin')
  await admin.command({
    configureFailPoint: 'failCommand',
    mode: { times },
    data: { failCommands: [command], ...how },
  })
}

const reads: [string, string, (db: Db) => Promise<unknown>, unknown][] = [
  ['one document', 'find', () => numbers.findOne({ number: 7 }).then((found) => found?.number), 7],
  [
    'a list',
    'find',
    () =>
      numbers
        .find()
        .limit(9)
        .toArray()
        .then(({ length }) => length),
    9,
  ],
  [
    'a later batch of a list',
    'getMore',
    () =>
      numbers
        .find()
        .toArray()
        .then(({ length }) => length),
    250,
  ],
  ['a count', 'aggregate', () => numbers.countDocuments({ number: { $lt: 30 } }), 30],
  ['distinct values', 'distinct', () => numbers.distinct('number').then(({ length }) => length), 250],
  [
    'a snapshot',
    'find',
    (from) =>
      inSnapshot(from, (session) =>
        numbers.findOne({ number: 7 }, { session }).then((found) => found?.number),
      ),
    7,
  ],
]

test.each(reads)(
  'the read of %s is repeated until its server is there again',
  async (_, command, read, result) => {
    for (const how of [stepsDown, disconnects]) {
      await failNext(command, failures, how)
      expect({ how, result: await read(db) }).toEqual({ how, result })
    }
  },
)

test('a read that fails for another reason is not repeated', async () => {
  await failNext('find', 1, { errorCode: 2 })
  await expect(numbers.findOne()).rejects.toThrow()
  expect(await numbers.findOne({ number: 1 })).toMatchObject({ number: 1 })
})

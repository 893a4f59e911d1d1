import type { CommandStartedEvent } from 'mongodb'
import { expect, test } from 'vitest'
import { batch, single } from '../../src/http/write.ts'
import { Writer } from '../../src/http/writer.ts'
import type { Session } from '../../src/platform/mongo/connection.ts'
import { lockModel } from '../../src/platform/mongo/turns/locks.ts'
import { inTransaction } from '../../src/platform/mongo/turns/transactions.ts'
import { testApp } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'

const MONGODB_URL = `${await ownDatabase()}&monitorCommands=true`
const { live } = await testApp({ MONGODB_URL })
const ownerId = 1

async function insertLocks(session: Session, names: string[]): Promise<string[]> {
  const documents = names.map((_id) => ({ _id, owner_id: ownerId, taken: 0 }))
  await lockModel(live.db).collection.insertMany(documents as object[], { session })
  return names
}

const queue = () => 'writes'
const prepare = async (_app: object, _ownerId: number, name: string) => ({ name })
const together = batch({
  queue,
  prepare,
  write: (_app: object, session, _ownerId, requests: { name: string }[]) =>
    insertLocks(
      session,
      requests.map(({ name }) => name),
    ),
})
const apart = single({
  queue,
  prepare,
  write: async (_app: object, session, _ownerId, { name }: { name: string }) => {
    await insertLocks(session, [name])
    return name
  },
})

/** A request without an `Idempotency-Key`. */
const newRequest = () => ({
  caller: {
    keyId: 1,
    ownerId,
    isSandbox: false,
    permissions: [],
    address: '127.0.0.1',
    maxHoldSeconds: undefined,
    host: { id: ownerId, name: '', email: '', createdAt: new Date(), lastLoginAt: null },
  },
  sent: { idempotencyKey: undefined, body: undefined },
  request: new Request('http://localhost/'),
  route: '/',
  params: {},
  set: { headers: {} },
  admitted: () => undefined,
})

test.each([
  { name: 'a batch', declared: together, transactions: 1 },
  { name: 'single writes', declared: apart, transactions: 3 },
])('three requests of $name that wait for the same turn take $transactions transactions', async (row) => {
  const writer = new Writer(live, row.declared)
  const gate = Promise.withResolvers<void>()
  const earlier = inTransaction(live.db, 'writes', () => gate.promise)
  const names = [1, 2, 3].map((number) => `${row.name}-${number}`)
  const answers = names.map((name) =>
    writer.answer(newRequest(), {
      input: () => name,
      respond: (_, written) => ({ status: 201, envelope: { data: written } }),
    }),
  )
  // Each request is prepared before it waits for its turn.
  await Bun.sleep(0)
  let transactions = 0
  const note = ({ command }: CommandStartedEvent) => {
    if (command.startTransaction) transactions += 1
  }
  live.db.getClient().on('commandStarted', note)
  gate.resolve()
  expect(await Promise.all(answers)).toEqual(names.map((data) => ({ data })))
  live.db.getClient().off('commandStarted', note)
  await earlier
  expect(transactions).toBe(row.transactions)
})

test('a replay ends no commit, and a write without a key is carried out each time', async () => {
  const writer = new Writer(live, apart)
  const calls: string[] = []
  const answer = (name: string, idempotencyKey: string | undefined) =>
    writer.answer(
      { ...newRequest(), sent: { idempotencyKey, body: {} } },
      {
        input() {
          calls.push(`input of ${name}`)
          return name
        },
        respond: (_, written) => ({ status: 201, envelope: { data: written } }),
        afterCommit: (_, written) => void calls.push(`commit of ${written}`),
      },
    )
  const key = crypto.randomUUID()
  const first = await answer('keyed', key)
  const replay = (await answer('keyed', key)) as Response
  expect(first).toEqual({ data: 'keyed' })
  expect(await replay.text()).toBe(JSON.stringify(first))
  expect(replay.headers.get('idempotent-replayed')).toBe('true')
  await answer('without a key', undefined)
  expect(calls).toEqual([
    'input of keyed',
    'commit of keyed',
    // A replay is prepared beside the look-up of its response.
    'input of keyed',
    'input of without a key',
    'commit of without a key',
  ])
})

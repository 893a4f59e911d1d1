import type { CommandStartedEvent } from 'mongodb'
import { expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import type { Session } from '../../../src/platform/mongo/connection.ts'
import { lockModel } from '../../../src/platform/mongo/turns/locks.ts'
import { Batches, inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

const MONGODB_URL = `${await ownDatabase()}&monitorCommands=true`
const { db } = (await testApp({ MONGODB_URL })).live

const refusal = new DomainError('validation', 'No unit is left')

interface NewLock {
  _id: string
  isRefused?: boolean
}

/** Stores a list of locks with one command, and then refuses the list if one of them must be refused. */
async function insertLocks(session: Session, locks: NewLock[]): Promise<string[]> {
  const documents = locks.map(({ _id }) => ({ _id, owner_id: 1, taken: 0 }))
  await lockModel(db).collection.insertMany(documents as object[], { session })
  if (locks.some(({ isRefused }) => isRefused)) throw refusal
  return locks.map(({ _id }) => _id)
}

/** Returns a kind of changes of its own. */
const newKind = () => new Batches(db, (session, _: null, locks: NewLock[]) => insertLocks(session, locks))
const shared = newKind()

/** Writes locks that wait behind one transaction; returns their outcomes and the counts of transactions and inserts. */
async function inOneTurn(queue: string, locks: NewLock[], kindOf = (_: number) => shared) {
  const gate = Promise.withResolvers<void>()
  const first = inTransaction(db, queue, () => gate.promise)
  const waiting = Promise.allSettled(
    locks.map((request, index) => kindOf(index).run({ queue, shared: null, request })),
  )
  let transactions = 0
  let inserts = 0
  const note = ({ command, commandName }: CommandStartedEvent) => {
    if (command.startTransaction) transactions += 1
    if (commandName === 'insert') inserts += 1
  }
  db.getClient().on('commandStarted', note)
  gate.resolve()
  const outcomes = await waiting
  db.getClient().off('commandStarted', note)
  await first
  return { outcomes, transactions, inserts }
}

const stored = async (prefix: string) =>
  (
    await lockModel(db)
      .find({ _id: new RegExp(`^${prefix}`) })
      .lean()
  )
    .map(({ _id }) => _id)
    .sort()

const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}-${at}`)
const toLock = (_id: string) => ({ _id })

test('changes that wait for the same turn are written as one list, and each gets its own result', async () => {
  const some = ids('shared', 5)
  const { outcomes, transactions, inserts } = await inOneTurn('shared', some.map(toLock))
  expect(outcomes).toEqual(some.map((value) => ({ status: 'fulfilled', value })))
  expect({ stored: await stored('shared-'), transactions, inserts }).toEqual({
    stored: some,
    transactions: 1,
    inserts: 1,
  })
})

test('a change does not fail because another one of its batch is refused', async () => {
  const [one = '', twice = '', last = ''] = ids('mixed', 3)
  const refused = { _id: 'mixed-refused', isRefused: true }
  const { outcomes } = await inOneTurn('mixed', [
    toLock(one),
    refused,
    toLock(twice),
    toLock(twice),
    toLock(last),
  ])
  expect(outcomes).toMatchObject([
    { status: 'fulfilled', value: one },
    { status: 'rejected', reason: refusal },
    { status: 'fulfilled', value: twice },
    { status: 'rejected', reason: { code: 11_000 } },
    { status: 'fulfilled', value: last },
  ])
  expect(await stored('mixed-')).toEqual([one, twice, last])
})

test('at most eight changes are written together', async () => {
  const many = ids('many', 10)
  const { transactions } = await inOneTurn('many', many.map(toLock))
  expect({ stored: await stored('many-'), transactions }).toEqual({ stored: many, transactions: 2 })
})

test('only changes of the same kind are written together', async () => {
  const some = ids('kinds', 6)
  const kinds = [newKind(), newKind()]
  const { transactions } = await inOneTurn('kinds', some.map(toLock), (at) => kinds[at % 2] as typeof shared)
  expect({ stored: await stored('kinds-'), transactions }).toEqual({ stored: some, transactions: 2 })
})

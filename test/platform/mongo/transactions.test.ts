import type { CommandStartedEvent } from 'mongodb'
import { expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import type { Session } from '../../../src/platform/mongo/connection.ts'
import { lockModel } from '../../../src/platform/mongo/locks.ts'
import { carryOut, inTransaction } from '../../../src/platform/mongo/transactions.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

const MONGODB_URL = `${await ownDatabase()}&monitorCommands=true`
const { db } = (await testApp({ MONGODB_URL })).live

const insert = (_id: string) => async (session: Session) => {
  await lockModel(db).collection.insertOne({ _id, host_id: 1, taken: 0 } as never, { session })
  return _id
}

/** Makes short changes wait for one turn together; returns their outcomes and the number of transactions. */
async function together(queue: string, changes: ((session: Session) => Promise<unknown>)[]) {
  const gate = Promise.withResolvers<void>()
  const first = inTransaction(db, queue, () => gate.promise)
  const waiting = Promise.allSettled(changes.map((run) => carryOut(db, { queue, run, isShort: true })))
  let transactions = 0
  const note = ({ command }: CommandStartedEvent) => {
    if (command.startTransaction) transactions += 1
  }
  db.getClient().on('commandStarted', note)
  gate.resolve()
  const outcomes = await waiting
  db.getClient().off('commandStarted', note)
  await first
  return { outcomes, transactions }
}

const stored = async (prefix: string) =>
  (
    await lockModel(db)
      .find({ _id: new RegExp(`^${prefix}`) })
      .lean()
  )
    .map(({ _id }) => _id)
    .sort()

test('short changes that wait for the same turn share a transaction, and each gets its own result', async () => {
  const names = ['shared-1', 'shared-2', 'shared-3', 'shared-4', 'shared-5']
  const { outcomes, transactions } = await together('shared', names.map(insert))
  expect(outcomes).toEqual(names.map((value) => ({ status: 'fulfilled', value })))
  expect([await stored('shared-'), transactions]).toEqual([names, 1])
})

test('a refused change does not fail the changes that share its transaction', async () => {
  const refusal = new DomainError('validation', 'No unit is left')
  const refused = async (session: Session) => {
    await insert('mixed-refused')(session)
    throw refusal
  }
  const twice = [insert('mixed-2'), insert('mixed-2')]
  const { outcomes } = await together('mixed', [insert('mixed-1'), refused, ...twice, insert('mixed-3')])
  expect(outcomes.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  ])
  expect(outcomes[1]).toMatchObject({ reason: refusal })
  expect(outcomes[3]).toMatchObject({ reason: { code: 11_000 } })
  expect(await stored('mixed-')).toEqual(['mixed-1', 'mixed-2', 'mixed-3'])
})

test('at most eight changes share a transaction', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `many-${index}`)
  const { transactions } = await together('many', names.map(insert))
  expect([await stored('many-'), transactions]).toEqual([names, 2])
})

import type { CommandStartedEvent } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import type { Db, Session } from '../../../src/platform/mongo/connection.ts'
import { lockModel } from '../../../src/platform/mongo/locks.ts'
import { runBatched } from '../../../src/platform/mongo/statements.ts'
import { inTransaction, runUnit, type UnitOfWork } from '../../../src/platform/mongo/transactions.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

const MONGODB_URL = `${await ownDatabase()}&monitorCommands=true`
const { db } = (await testApp({ MONGODB_URL })).live

async function insertAll(_: Db, session: Session, ids: string[]): Promise<string[]> {
  const locks = ids.map((_id) => ({ _id, owner_id: 1, taken: 0 }))
  await db.collection<(typeof locks)[number]>('locks').insertMany(locks, { session })
  return ids
}

const insert = (_id: string) => (session: Session) => runBatched(db, session, insertAll, _id)

type Shares = NonNullable<UnitOfWork<unknown>['shares']>

/** Runs changes that wait behind one transaction; returns their outcomes and the counts of transactions and inserts. */
async function inOneTurn(
  shares: Shares[],
  queue: string,
  changes: ((session: Session) => Promise<unknown>)[],
) {
  const gate = Promise.withResolvers<void>()
  const first = inTransaction(db, queue, () => gate.promise)
  const units = changes.map((run, index) => ({ queue, run, shares: shares[index % shares.length] as Shares }))
  const waiting = Promise.allSettled(units.map((unit) => runUnit(db, unit)))
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

describe.each([
  ['in turn', ['in turn']],
  ['in step', ['in step']],
  ['both', ['in step', 'in turn']],
] as [string, Shares[]][])('changes that wait for the same turn, %s', (name, shares) => {
  const ids = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${name}-${prefix}-${at}`)

  test('share a transaction, and each gets its own result', async () => {
    const some = ids('shared', 5)
    const { outcomes, transactions } = await inOneTurn(shares, `${name}-shared`, some.map(insert))
    expect(outcomes).toEqual(some.map((value) => ({ status: 'fulfilled', value })))
    expect({ stored: await stored(`${name}-shared-`), transactions }).toEqual({
      stored: some,
      transactions: 1,
    })
  })

  test('do not fail because another one is refused', async () => {
    const refusal = new DomainError('validation', 'No unit is left')
    const refused = async (session: Session) => {
      await insert(`${name}-mixed-refused`)(session)
      throw refusal
    }
    const [one = '', twice = '', last = ''] = ids('mixed', 3)
    const changes = [insert(one), refused, insert(twice), insert(twice), insert(last)]
    const { outcomes } = await inOneTurn(shares, `${name}-mixed`, changes)
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(outcomes[1]).toMatchObject({ reason: refusal })
    expect(outcomes[3]).toMatchObject({ reason: { code: 11_000 } })
    expect(await stored(`${name}-mixed-`)).toEqual([one, twice, last])
  })

  test('share a transaction at most eight at a time', async () => {
    const many = ids('many', 10)
    const { transactions } = await inOneTurn(shares, `${name}-many`, many.map(insert))
    expect({ stored: await stored(`${name}-many-`), transactions }).toEqual({ stored: many, transactions: 2 })
  })
})

test('changes in step send each statement once', async () => {
  const some = ['once-1', 'once-2', 'once-3']
  const { inserts } = await inOneTurn(['in step'], 'once', some.map(insert))
  expect({ stored: await stored('once-'), inserts }).toEqual({ stored: some, inserts: 1 })
})

import { expect, test } from 'vitest'
import { openMongo, timeLimitOn } from '../../../src/platform/mongo/connection.ts'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { sandboxDatabase } from '../../../src/sandbox/store.ts'
import { onScopeEnd, ownDatabase } from '../../support/databases.ts'

const url = await ownDatabase()
const [limited, unlimited] = await Promise.all([openMongo(url), openMongo(url, true)])
onScopeEnd(() => Promise.all([limited.close(), unlimited.close()]))

test('work on a database that is opened without time limits has none, in the sandbox either', async () => {
  const limit = 4000
  expect(timeLimitOn(limited, limit)).toBe(limit)
  expect(timeLimitOn(sandboxDatabase(limited), limit)).toBe(limit)
  for (const db of [unlimited, sandboxDatabase(unlimited)])
    expect(timeLimitOn(db, limit)).toBeGreaterThan(24 * 3_600_000)
})

test('transactions without time limits wait for their turn and are carried out', async () => {
  const gate = Promise.withResolvers<string>()
  const first = inTransaction(unlimited, 'queue', () => gate.promise)
  const second = inTransaction(unlimited, 'queue', async () => 'second')
  gate.resolve('first')
  expect(await Promise.all([first, second])).toEqual(['first', 'second'])
})

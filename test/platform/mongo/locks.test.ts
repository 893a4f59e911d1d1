import { expect, test } from 'vitest'
import { ensureLock, lockModel, takeLock } from '../../../src/platform/mongo/turns/locks.ts'
import { inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import { testApp } from '../../support/app.ts'

const { live } = await testApp()

test('takeLock() reports a retryable conflict if the lock was deleted with its host, and then succeeds', async () => {
  const ownerId = await live.ids('host')
  const lock = { ownerId, name: `listings/${ownerId}` }
  const take = () => inTransaction(live.db, lock.name, (session) => takeLock(live.db, session, lock))
  const taken = async () => (await lockModel(live.db).findById(lock.name).lean())?.taken
  await ensureLock(live.db, lock)
  await take()
  expect(await taken()).toBe(1)
  await lockModel(live.db).deleteOne({ _id: lock.name })
  await expect(take()).rejects.toMatchObject({ kind: 'conflict', retryAfterSeconds: expect.any(Number) })
  await ensureLock(live.db, lock)
  await take()
  expect(await taken()).toBe(1)
})

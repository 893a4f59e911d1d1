import { expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { inTransaction, runUnit } from '../../../src/platform/mongo/transactions.ts'
import {
  queueTimeoutMilliseconds,
  transactionTimeoutMilliseconds,
} from '../../../src/platform/time-limits.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

test('a change whose shared transaction fell apart ends no later than it would have alone', async () => {
  const { db } = (await testApp({ MONGODB_URL: await ownDatabase() })).live
  const refusal = new DomainError('validation', 'No unit is left')
  const changes = Array.from({ length: 8 }, (_, index) => ({
    queue: 'slow',
    shares: 'in turn' as const,
    async run() {
      if (index === 0) throw refusal
      await Bun.sleep(3000)
      return index
    },
  }))
  const gate = Promise.withResolvers<void>()
  const earlier = inTransaction(db, 'slow', () => gate.promise)
  const startedAt = Date.now()
  const ending = Promise.all(
    changes.map(async (unit) => {
      const [outcome] = await Promise.allSettled([runUnit(db, unit)])
      return { outcome, milliseconds: Date.now() - startedAt }
    }),
  )
  gate.resolve()
  await earlier
  const ends = await ending
  const longest = Math.max(...ends.map(({ milliseconds }) => milliseconds))
  expect(longest).toBeLessThan(queueTimeoutMilliseconds + transactionTimeoutMilliseconds + 1000)
  expect(ends[0]?.outcome).toMatchObject({ reason: refusal })
  expect(ends.slice(1, 4).map(({ outcome }) => outcome)).toEqual(
    [1, 2, 3].map((value) => ({ status: 'fulfilled', value })),
  )
  // A change that runs out of time is refused with a `Retry-After`, so that the client repeats it.
  expect(ends.at(-1)?.outcome).toMatchObject({ reason: { kind: 'conflict', retryAfterSeconds: 1 } })
})

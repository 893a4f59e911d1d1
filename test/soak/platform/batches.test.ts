import { expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import type { Session } from '../../../src/platform/mongo/connection.ts'
import { Batches, inTransaction } from '../../../src/platform/mongo/turns/transactions.ts'
import {
  queueTimeoutMilliseconds,
  transactionTimeoutMilliseconds,
} from '../../../src/platform/time-limits.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

test('a change whose batch fell apart ends no later than it would have alone', async () => {
  const { db } = (await testApp({ MONGODB_URL: await ownDatabase() }, undefined, { noTimeouts: false })).live
  const refusal = new DomainError('validation', 'No unit is left')
  const batches = new Batches(db, async (_: Session, __: null, requests: { index: number }[]) => {
    const isRefused = requests.some((request) => request.index === 0)
    if (isRefused) throw refusal
    await Bun.sleep(3000 * requests.length)
    return requests.map((request) => request.index)
  })
  const changes = Array.from({ length: 8 }, (_, index) => ({
    queue: 'slow',
    shared: null,
    request: { index },
  }))
  const gate = Promise.withResolvers<void>()
  const earlier = inTransaction(db, 'slow', () => gate.promise)
  const startedAt = Date.now()
  const ending = Promise.all(
    changes.map(async (change) => {
      const [outcome] = await Promise.allSettled([batches.run(change)])
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

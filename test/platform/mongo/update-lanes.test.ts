import { expect, test } from 'vitest'
import { inLane } from '../../../src/platform/mongo/turns/update-lanes.ts'
import { testApp } from '../../support/app.ts'

const { db } = (await testApp()).live

test('an update that waits for a lane goes on in the first that becomes free, beside one that never ends', async () => {
  const endless = Promise.withResolvers<void>()
  const others = Promise.withResolvers<void>()
  const blocked = inLane(db, () => endless.promise)
  const ended = Array.from({ length: 19 }, () => inLane(db, () => others.promise))
  let isDone = false
  const more = Array.from({ length: 20 }, () =>
    inLane(db, async () => {
      isDone = true
    }),
  )
  await Bun.sleep(20)
  expect(isDone).toBe(false)
  others.resolve()
  await Promise.all(ended.concat(more))
  endless.resolve()
  await blocked
})

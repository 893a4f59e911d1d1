import { expect, test } from 'vitest'
import { findKey } from '../../../src/access/keys/store.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

test('the usage of 1,000 requests needs far fewer database writes and keeps the last 20 addresses', async () => {
  const url = await ownDatabase()
  let now = Date.now()
  const { live, actor } = await testApp(
    { TRUSTED_PROXIES: '127.0.0.1', MONGODB_URL: url },
    () => new Date(now++),
  )
  const someone = await actor()
  const start = now
  await live.db.db?.command({ profile: 2 })
  for (let count = 0; count < 1000; count += 1) {
    await someone.send('GET', '/v1/me', { headers: { 'x-forwarded-for': `10.0.0.${count % 30}` } })
  }
  await live.usage.flush()
  await live.db.db?.command({ profile: 0 })
  const profile = live.db.collection('system.profile')
  const writes = await profile.countDocuments({ ns: /keys$/, op: { $in: ['update', 'insert'] } })
  const key = await findKey(live.db, String(someone.keyId))
  expect(key.usage_count).toBe(1000)
  expect(key.last_used_at?.getTime()).toBeGreaterThanOrEqual(start)
  expect(key.addresses.map(({ address }) => address)).toEqual(
    Array.from({ length: 20 }, (_, index) => `10.0.0.${(999 - index) % 30}`),
  )
  expect(writes).toBeGreaterThan(0)
  // Usage is written once every two seconds, however many requests arrive.
  expect(writes).toBeLessThan(100)
})

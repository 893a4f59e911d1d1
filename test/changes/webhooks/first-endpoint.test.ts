import { expect, test } from 'vitest'
import { leaseModel } from '../../../src/platform/mongo/turns/lease.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startReceiver } from '../../support/receiver.ts'
import { hookedPartner } from '../../support/webhooks.ts'

const service = await testApp({ MONGODB_URL: await ownDatabase(), WEBHOOKS_ALLOW_PRIVATE: 'on' })

test('a service takes no lease on hints until it has a webhook, and then hints at once', async (context) => {
  await Bun.sleep(1500)
  const leases = () => leaseModel(service.live.db).countDocuments({ _id: 'webhooks' })
  expect(await leases()).toBe(0)
  const { url, received } = startReceiver(context)
  const { book } = await hookedPartner(service, url)
  await book()
  await expect.poll(() => received.length).toBe(1)
  expect(await leases()).toBe(1)
})

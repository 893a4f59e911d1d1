import { expect, test } from 'vitest'
import { rotateKey } from '../../../src/access/keys/store.ts'
import { testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { partnerctl } from '../../support/processes.ts'

const MONGODB_URL = await ownDatabase()
const service = await testApp({ MONGODB_URL })

test('after a restore no webhook is active, and the secrets that a rotation was replacing are invalid', async () => {
  const actor = await service.actor()
  const made = await actor.send('POST', '/v1/webhooks', {
    body: { url: 'https://example.com/', events: ['booking.changed'] },
  })
  const tried = await actor.send('POST', '/sandbox/webhooks', {
    body: { url: 'https://example.com/', events: ['booking.changed'] },
  })
  const { key } = await rotateKey(service.live.db, service.live.clock, String(actor.keyId), 86_400)
  const { code, stdout, stderr } = await partnerctl(['db', 'after-restore', '--yes', '--json'], {
    MONGODB_URL,
  })
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { webhooks_turned_off: 1, key_overlaps_ended: 1 }])
  expect(stderr).toContain('repeat the rotations')
  expect(stderr).toContain('All webhooks are off')
  await expect
    .poll(async () => (await actor.send('GET', '/v1/me')).body.error?.message)
    .toBe('API key has expired')
  const send = (method: string, path: string, body?: object) =>
    service.send(method, path, { key, ...(body ? { body } : {}) })
  for (const path of [`/v1/webhooks/${made.body.data.id}`, `/sandbox/webhooks/${tried.body.data.id}`]) {
    expect((await send('GET', path)).body.data).toMatchObject({
      enabled: false,
      disabled_reason: 'administrator',
    })
    const on = await send('PATCH', path, { enabled: true })
    expect([on.status, on.body.meta.gap]).toEqual([
      200,
      { bookings_after: expect.any(String), messages_after: expect.any(String) },
    ])
  }
  const again = await partnerctl(['db', 'after-restore', '--yes', '--json'], { MONGODB_URL })
  expect(JSON.parse(again.stdout)).toMatchObject({ webhooks_turned_off: 1, key_overlaps_ended: 0 })
})

import { test } from 'vitest'
import { mintKey, updateKey } from '../../../src/access/keys/store.ts'
import { partnerctlHere } from '../../support/admin.ts'
import { type Actor, sender, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startReceiver } from '../../support/receiver.ts'
import { bothEvents, hookedPartner } from '../../support/webhooks.ts'

const MONGODB_URL = await ownDatabase()
const service = await testApp({ MONGODB_URL, WEBHOOKS_ALLOW_PRIVATE: 'on' })
const path = '/v1/webhooks'

/** Creates another key for an actor's host. */
async function colleagueOf({ hostId }: Actor, expiresAt: Date | null = null) {
  const { key, record } = await mintKey(service.live.db, service.live.clock, {
    host: hostId,
    name: 'Colleague',
    permissions: ['bookings.read', 'bookings.write'],
    rateLimit: 1_000_000,
    expiresAt,
  })
  const send = sender((request) => service.app.handle(request))
  return {
    keyId: record.id,
    key,
    send: ((method, at, sending) => send(method, at, { key, ...sending })) as Actor['send'],
  }
}

test.concurrent('another key of the host sees a webhook without the query of its address, and may not change it', async (context) => {
  const { expect } = context
  const { url } = startReceiver(context)
  const { actor, id } = await hookedPartner(service, `${url}&token=of-the-partner#fragment`)
  const colleague = await colleagueOf(actor)
  const delivery = (await actor.send('POST', `${path}/${id}/test`)).body.data.id
  const plain = url.split('?')[0]
  const [listed] = (await colleague.send('GET', path)).body.data
  expect({ listed: listed.url, read: (await colleague.send('GET', `${path}/${id}`)).body.data.url }).toEqual({
    listed: plain,
    read: plain,
  })
  expect((await actor.send('GET', path)).body.data[0].url).toContain('of-the-partner')
  const tries: [string, string, object?][] = [
    ['PATCH', `${path}/${id}`, { enabled: false }],
    ['PATCH', `${path}/${id}`, { url: 'https://elsewhere.example.com/' }],
    ['DELETE', `${path}/${id}`],
    ['POST', `${path}/${id}/secret/rotate`],
    ['POST', `${path}/${id}/test`],
    ['POST', `${path}/${id}/deliveries/${delivery}/resend`],
  ]
  for (const [method, at, body] of tries) {
    const refused = await colleague.send(method, at, body ? { body } : {})
    expect({ method, at, status: refused.status, path: refused.body.error.errors[0].path }).toEqual({
      method,
      at,
      status: 403,
      path: 'created_by',
    })
  }
  expect((await actor.send('GET', `${path}/${id}`)).body.data).toMatchObject({
    enabled: true,
    created_by: actor.keyId,
  })
  expect((await actor.send('DELETE', `${path}/${id}`)).status).toBe(200)
})

test.concurrent("an inactive key's webhook is turned off and gets nothing, and another key takes it over", async (context) => {
  const { expect } = context
  const { url, received } = startReceiver(context)
  const { actor, id, stay } = await hookedPartner(service, url, ['booking.changed'])
  const colleague = await colleagueOf(actor)
  await updateKey(service.live.db, String(actor.keyId), { active: false })
  const missed = await colleague.send('POST', '/v1/bookings', { body: stay })
  const seen = async () => (await colleague.send('GET', `${path}/${id}`)).body.data
  await expect.poll(async () => (await seen()).disabled_reason).toBe('key_ended')
  expect({ received, url: (await seen()).url }).toEqual({ received: [], url })
  expect((await colleague.send('POST', `${path}/${id}/test`)).status).toBe(409)
  const taken = await colleague.send('PATCH', `${path}/${id}`, { body: { enabled: true } })
  expect(taken.body.data).toMatchObject({ enabled: true, disabled_reason: null, created_by: colleague.keyId })
  expect(taken.body.meta.gap.bookings_after).toMatch(/^\d{4}-/)
  const next = await colleague.send('POST', '/v1/bookings', { body: stay })
  await expect
    .poll(() => received.map(({ hint }) => hint.data.booking_id))
    .toEqual([next.body.data.booking_id])
  expect(missed.status).toBe(201)
  await updateKey(service.live.db, String(actor.keyId), { active: true })
  expect((await actor.send('DELETE', `${path}/${id}`)).status).toBe(403)
})

test.concurrent('the webhook of an expired or revoked key is turned off even if nothing changes', async (context) => {
  const { expect } = context
  const { actor, id } = await hookedPartner(service, 'https://example.com/')
  const expiring = await colleagueOf(actor, new Date(Date.now() + 3000))
  const made = await expiring.send('POST', path, {
    body: { url: 'https://example.com/', events: bothEvents },
  })
  expect(made.status).toBe(201)
  const lasting = await colleagueOf(actor)
  const reasonOf = async (of: number) =>
    (await lasting.send('GET', `${path}/${of}`)).body.data.disabled_reason
  await expect.poll(() => reasonOf(made.body.data.id)).toBe('key_ended')
  await partnerctlHere(['keys', 'revoke', String(actor.keyId), '--yes'], { MONGODB_URL })
  expect(await reasonOf(id)).toBe('key_ended')
})

test.concurrent('every action on a webhook is audited', async (context) => {
  const { expect } = context
  const { actor, id } = await hookedPartner(service, 'https://example.com/')
  await actor.send('POST', `${path}/${id}/secret/rotate`)
  await actor.send('PATCH', `${path}/${id}`, { body: { events: ['booking.changed'] } })
  await actor.send('DELETE', `${path}/${id}`)
  const { stdout } = await partnerctlHere(['audit', 'list', '--json'], { MONGODB_URL })
  const own = (JSON.parse(stdout) as Record<string, string>[]).filter(
    ({ target }) => target === `webhook ${id}`,
  )
  expect(own.map(({ action }) => action)).toEqual([
    'webhooks delete',
    'webhooks change',
    'webhooks rotate',
    'webhooks create',
  ])
  expect(new Set(own.map(({ user }) => user))).toEqual(new Set([`key ${actor.keyId}`]))
})

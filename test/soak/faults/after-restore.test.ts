import { afterAll, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { makeActor, sender, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { rotateKey } from '../../support/keys.ts'
import { partnerctl, startService } from '../../support/processes.ts'

const MONGODB_URL = await ownDatabase()
const db = await openMongo(MONGODB_URL)
afterAll(() => db.close())
const start = () => startService(testEnvironment({ MONGODB_URL }))
const afterRestore = () => partnerctl(['db', 'after-restore', '--yes', '--json'], { MONGODB_URL })

test('after a restore no webhook is active, and the secrets that a rotation was replacing are invalid', async () => {
  const first = await start()
  const actor = await makeActor({ db, clock: systemClock }, sender(fetch, first.url))
  const body = { url: 'https://example.com/', events: ['booking.changed'] }
  const made = await actor.send('POST', '/v1/webhooks', { body })
  const tried = await actor.send('POST', '/sandbox/webhooks', { body })
  const { key } = await rotateKey(db, systemClock, String(actor.keyId), 86_400)

  const tooEarly = await afterRestore()
  expect(tooEarly.code).toBe(1)
  expect(tooEarly.stderr).toMatch(/^A service uses 127\.0\.0\.1:\d+\/\w+: nothing was changed/)
  await first.end('SIGTERM')
  const { code, stdout, stderr } = await afterRestore()
  expect({ code, output: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    output: { webhooks_turned_off: 1, key_overlaps_ended: 1 },
  })
  expect(stderr).toMatch(/^Database: 127\.0\.0\.1:\d+\/\w+\n/)
  expect(stderr).toContain('repeat the rotations')
  expect(stderr).toContain('All webhooks are off')
  const again = await afterRestore()
  expect(JSON.parse(again.stdout)).toMatchObject({ webhooks_turned_off: 0, key_overlaps_ended: 0 })

  const second = await start()
  const send = sender(fetch, second.url)
  const replaced = await send('GET', '/v1/me', { key: actor.key })
  expect(replaced.body.error?.message).toBe('API key has expired')
  for (const path of [`/v1/webhooks/${made.body.data.id}`, `/sandbox/webhooks/${tried.body.data.id}`]) {
    expect((await send('GET', path, { key })).body.data).toMatchObject({
      enabled: false,
      disabled_reason: 'administrator',
    })
    const on = await send('PATCH', path, { key, body: { enabled: true } })
    expect({ status: on.status, gap: on.body.meta.gap }).toEqual({
      status: 200,
      gap: { bookings_after: expect.any(String), messages_after: expect.any(String) },
    })
  }
  await second.end('SIGTERM')
})

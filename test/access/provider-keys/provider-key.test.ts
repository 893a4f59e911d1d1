import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { providerKeyModel } from '../../../src/access/provider-keys/model.ts'
import { listWebhooks } from '../../../src/changes/webhooks/store.ts'
import { SecretBox } from '../../../src/platform/secrets/secret-box.ts'
import { signingKey } from '../../../src/platform/secrets/signing-keys.ts'
import { partnerctlHere as partnerctl } from '../../support/admin.ts'
import { sender, sharedServices, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'

const service = await testApp()
const path = '/v1/integrations/provider_one/provider-key'
const body = (provider_api_key: unknown) => ({ body: { provider_api_key } })

test('POST provider-key creates, updates or keeps the key, and responds 409 if another host has it', async () => {
  const actor = await service.actor()
  const stranger = await service.actor()
  const key = `pk-${crypto.randomUUID()}`
  const outcome = async (sent: string) => (await actor.send('POST', path, body(sent))).body.data.status
  expect(await outcome(key)).toBe('created')
  expect(await outcome(` ${key} `)).toBe('unchanged')
  expect(await outcome(`${key}-2`)).toBe('updated')
  const refused = await stranger.send('POST', path, body(`${key}-2`))
  expect({ status: refused.status, type: refused.body.error.type }).toEqual({ status: 409, type: 'conflict' })
  expect((await stranger.send('POST', path, body(key))).body.data.status).toBe('created')
})

test.each([
  [undefined, 'required'],
  [null, 'required'],
  ['', 'required'],
  ['  ', 'required'],
  [5, 'required'],
  [['x'], 'required'],
  ['x'.repeat(256), 'max'],
])('POST provider-key with %.20j responds 422 %s', async (sent, code) => {
  const actor = await service.actor()
  const response = await actor.send('POST', path, body(sent))
  expect({ status: response.status, errors: response.body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: 'provider_api_key', code }],
  })
})

test('POST provider-key encrypts the key before storing it', async () => {
  const actor = await service.actor()
  const key = `pk-${crypto.randomUUID()}`
  await actor.send('POST', path, body(key))
  const stored = await providerKeyModel(service.live.db).findOne({ owner_id: actor.hostId }).lean().orFail()
  expect(JSON.stringify(stored)).not.toContain(key)
  expect(service.live.secrets.open(stored)).toBe(key)
})

test('if two hosts store the same provider key over two processes, one of them gets 409, in twenty rounds', async () => {
  const processes = sharedServices()
  for (let round = 0; round < 20; round += 1) {
    const actors = [await service.actor(), await service.actor()]
    const sent = body(`race-${crypto.randomUUID()}`)
    const responses = await Promise.all(
      actors.map(({ key }, index) =>
        sender(fetch, processes[index]?.url)('POST', path, { ...sent, key, repeatWhileBusy: true }),
      ),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
  }
})

test('eight concurrent equal requests of one host over two processes create one key, in ten rounds', async () => {
  const processes = sharedServices()
  for (let round = 0; round < 10; round += 1) {
    const { key } = await service.actor()
    const outcomes = async () => {
      const sent = body(`burst-${crypto.randomUUID()}`)
      const responses = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          sender(fetch, processes[index % 2]?.url)('POST', path, { ...sent, key, repeatWhileBusy: true }),
        ),
      )
      return responses.map((response) => response.body.data.status).sort()
    }
    expect(await outcomes()).toEqual(['created', ...Array(7).fill('unchanged')])
    expect(await outcomes()).toEqual([...Array(7).fill('unchanged'), 'updated'])
  }
})

test('SecretBox.open() refuses a value that was tampered with or sealed with another secret', () => {
  const box = new SecretBox('a secret of at least 32 characters')
  const sealed = box.seal('text')
  const bytes = Buffer.from(sealed.sealed, 'base64')
  bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1
  expect(() => box.open({ ...sealed, sealed: bytes.toString('base64') })).toThrow()
  expect(() => new SecretBox('another secret of at least 32 chars').open(sealed)).toThrow('another secret')
  expect(box.seal('text').sealed).not.toBe(sealed.sealed)
})

test('partnerctl secrets rotate, with its settings in files, re-encrypts webhook secrets and provider keys, which stay unique throughout', async () => {
  const url = await ownDatabase()
  const oldSecret = 'the old secret of 32 characters and more'
  const newSecret = 'the new secret of 32 characters and more'
  const before = await testApp({ MONGODB_URL: url, SECRET_KEY: oldSecret })
  const one = await before.actor()
  const two = await before.actor()
  await one.send('POST', path, body('shared-key'))
  const hooks = { url: 'https://hooks.invalid/', events: ['message.created'] }
  const made = await one.send('POST', '/v1/webhooks', { body: hooks })
  const signer = await signingKey(before.live.db, before.live.secrets, new Date())
  const environment = { MONGODB_URL: url, SECRET_KEY: newSecret, OTHER_SECRET_KEYS: oldSecret }
  const during = await testApp(environment)
  const conflictIn = async (app: typeof during) =>
    (await app.send('POST', path, { ...body('shared-key'), key: two.key })).status
  expect(await conflictIn(during)).toBe(409)
  expect((await during.send('POST', path, { ...body('shared-key'), key: one.key })).body.data.status).toBe(
    'unchanged',
  )
  const folder = await mkdtemp(join(tmpdir(), 'secrets-'))
  const files = Object.entries(environment).map(async ([name, value]) => {
    await Bun.write(join(folder, name), `${value}\n`)
    return [`${name}_FILE`, join(folder, name)] as const
  })
  const rotated = await partnerctl(
    ['secrets', 'rotate', '--json'],
    Object.fromEntries(await Promise.all(files)),
  )
  expect(JSON.parse(rotated.stdout)).toEqual({ reencrypted: 2 })
  expect(JSON.parse((await partnerctl(['secrets', 'rotate', '--json'], environment)).stdout)).toEqual({
    reencrypted: 0,
  })
  const after = await testApp({ MONGODB_URL: url, SECRET_KEY: newSecret })
  expect(await conflictIn(after)).toBe(409)
  const stored = await providerKeyModel(after.live.db).findOne({ owner_id: one.hostId }).lean().orFail()
  expect(after.live.secrets.open(stored)).toBe('shared-key')
  const [webhook] = await listWebhooks(after.live.db, one.hostId)
  expect(webhook?.secrets.map((sealed) => after.live.secrets.open(sealed))).toEqual([made.body.data.secret])
  // The same keys still verify reports that were signed before the rotation.
  expect((await signingKey(after.live.db, after.live.secrets, new Date())).kid).toBe(signer.kid)
  expect((await partnerctl(['secrets', 'rotate'], { MONGODB_URL: url })).code).toBe(2)
})

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from '../../../src/core/config.ts'
import { openDatabase } from '../../../src/process/open-context.ts'
import { sender } from '../../support/app.ts'
import { startService } from '../../support/processes.ts'

test('no key, provider key, password or webhook secret appears in a database file, a document or a log', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'partner-secrets-'))
  const service = await startService({ DATA_DIR: dataDir, LOG_LEVEL: 'trace' })
  while (!service.output().includes('is up at')) await Bun.sleep(10)
  const key = /pis_[0-9A-Za-z]{38}/.exec(service.output())?.[0] as string
  const send = sender(fetch, service.url)
  const canaries = { password: 'canary-password-8d1f', provider: 'canary-provider-key-77ab' }
  const user = { email: 'c@example.com', first_name: 'A', last_name: 'B', password: canaries.password }
  const headers = { 'idempotency-key': 'one' }
  expect((await send('POST', '/v1/users', { key, headers, body: user })).status).toBe(201)
  expect(
    (await send('POST', '/v1/users', { key, headers, body: user })).headers.get('idempotent-replayed'),
  ).toBe('true')
  expect((await send('POST', '/v1/users', { key, body: { ...user, email: 5 } })).text).not.toContain('canary')
  const path = '/v1/integrations/provider_one/provider-key'
  expect((await send('POST', path, { key, body: { provider_api_key: canaries.provider } })).status).toBe(200)
  const hooks = { url: 'https://hooks.invalid/', events: ['message.created'] }
  const webhook = (await send('POST', '/v1/webhooks', { key, body: hooks })).body.data
  const rotated = await send('POST', `/v1/webhooks/${webhook.id}/secret/rotate`, { key })
  await send('POST', `/v1/webhooks/${webhook.id}/test`, { key })
  await service.end('SIGTERM')

  const logged = service.output().replace(new RegExp(`PARTNER_API_KEY=${key}`, 'g'), '')
  const { db, close } = await openDatabase(readConfig({ DATA_DIR: dataDir }))
  const names = (await db.listCollections()).map(({ name }) => name)
  const documents = await Promise.all(names.map((name) => db.collection(name).find().toArray()))
  await close()
  const files = (await readdir(dataDir, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  )
  const contents = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name))))
  expect(names.length).toBeGreaterThan(10)
  expect(contents.some((content) => content.includes('c@example.com'))).toBe(true)
  const whole = [webhook.secret, rotated.body.data.secret] as string[]
  const hookSecrets = whole.map((secret) => secret.slice('whsec_'.length))
  expect(hookSecrets.map(({ length }) => length)).toEqual([44, 44])
  for (const secret of [key, canaries.password, canaries.provider, ...hookSecrets]) {
    expect(logged).not.toContain(secret)
    expect(JSON.stringify(documents)).not.toContain(secret)
    expect(contents.filter((content) => content.includes(secret))).toEqual([])
  }
  await rm(dataDir, { recursive: true })
})

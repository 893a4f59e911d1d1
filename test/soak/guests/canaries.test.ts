import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import mongoose from 'mongoose'
import { expect, test } from 'vitest'
import { permissions } from '../../../src/http/permissions.ts'
import type { Db } from '../../../src/platform/mongo/connection.ts'
import { sandboxDatabase } from '../../../src/sandbox/store.ts'
import { sender } from '../../support/app.ts'
import { canary, findEverywhere, makeGuest } from '../../support/guests.ts'
import { partnerctl, startService } from '../../support/processes.ts'
import { startReceiver } from '../../support/receiver.ts'
import { startRedis } from '../../support/redis.ts'
import { bothEvents } from '../../support/webhooks.ts'

const METRICS_TOKEN = 'a-token-of-the-operator'
const provider = '/v1/integrations/provider_one'

/** Returns all bytes that a Redis server stores. */
async function bytesOf(url: string, folder: string): Promise<string> {
  const redis = new Redis(url)
  await redis.save()
  await redis.quit()
  return readFile(join(folder, 'dump.rdb'), 'latin1')
}

test("an erased guest's data is left in no database, Redis, log or metric, whatever features were used", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-canaries-'))
  // Redis would compress long texts.
  const redis = await startRedis(undefined, ['--dir', folder, '--rdbcompression', 'no'])
  const environment = { DATA_DIR: join(folder, 'data'), REDIS_URL: redis.url }
  const service = await startService({
    ...environment,
    METRICS_TOKEN,
    LOG_LEVEL: 'trace',
    WEBHOOKS_ALLOW_PRIVATE: 'on',
  })
  context.onTestFinished(async () => {
    await service.end('SIGTERM')
    await redis.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const command = async (...args: string[]) => {
    const done = await partnerctl([...args, '--json'], environment)
    if (done.code !== 0) throw new Error(`${args.join(' ')}: ${done.stderr}`)
    return JSON.parse(done.stdout)
  }
  const [host] = await command('hosts', 'list')
  const named = [
    '--host',
    String(host.id),
    '--name',
    'canaries',
    '--rate-limit',
    '500',
    '--permission',
    permissions.join(','),
  ]
  const { key } = await command('keys', 'mint', ...named)
  const over = sender(fetch, service.url)
  const send: typeof over = (method, path, sending) => over(method, path, { key, ...sending })
  const { url, received } = startReceiver(context)
  const hooked = await send('POST', '/v1/webhooks', { body: { url, events: bothEvents } })
  expect(hooked.status).toBe(201)

  const guests: Awaited<ReturnType<typeof makeGuest>>[] = []
  for (let count = 0; count < 7; count += 1) {
    const guest = await makeGuest({ send }, undefined, command)
    await send('POST', `${guest.path}/cancel`, guest.cancelled)
    guests.push(guest)
  }
  // Data in unexpected places, which passes through the service but is never stored.
  const [name, value, query, header] = ['Name', 'Value', 'Query', 'Header'].map(canary) as [
    string,
    string,
    string,
    string,
  ]
  const headers = { 'x-guest': header, 'user-agent': header, referer: header, cookie: `guest=${header}` }
  const [guest] = guests as [(typeof guests)[0]]
  for (const body of [
    { [name]: value },
    { ...guest.created.body, email: value, [name]: { [name]: value } },
    { ...guest.created.body, date_of_birth: value, phone: { [name]: value } },
    `{"email":"${value}`,
  ])
    expect((await send('POST', '/v1/users', { body, headers })).status).toBe(422)
  expect((await send('POST', '/v1/users', { body: guest.created.body, headers })).status).toBe(422)
  const wrongMessage = { body: { message: { text: '', [name]: value } }, headers }
  expect((await send('POST', `${guest.path}/messages`, wrongMessage)).status).toBe(422)
  await send('GET', `${provider}/bookings?status=${query}&${query}=1&updated_after=${query}`, { headers })
  await send('GET', `/v1/users/${query}`, { headers })

  const sandboxed: string[] = []
  const sandboxSend: typeof over = (method, path, sending) =>
    send(method, path.replace('/v1/', '/sandbox/'), sending)
  const person = { email: `${canary('SandboxMail')}@example.com`, first_name: canary('SandboxFirst') }
  sandboxed.push(person.email, person.first_name, canary('SandboxLetter'))
  const tester = await sandboxSend('POST', '/v1/users', { body: { ...person, last_name: 'L' } })
  expect(tester.status).toBe(201)
  const [played] = (await sandboxSend('GET', `${provider}/bookings`)).body.data.Bookings
  const letter = { message: { text: sandboxed[2] } }
  await sandboxSend('POST', `/v1/bookings/${played.booking_id}/messages`, { body: letter })
  expect((await send('DELETE', '/sandbox')).status).toBe(200)

  const feed = (await send('GET', `${provider}/messages?per_page=100`)).body.data.messages
  for (const { user_id, made } of guests) {
    const exported = JSON.stringify(await command('guests', 'export', '--user', String(user_id)))
    const stored = made.filter((text) => !/^Canary(KeyOf|Password)/.test(text))
    expect(stored.filter((text) => !exported.includes(text))).toEqual([])
  }
  const { port } = JSON.parse(await readFile(join(environment.DATA_DIR, 'mongod.json'), 'utf8'))
  const server = `mongodb://127.0.0.1:${port}/partner?directConnection=true`
  const db = (await mongoose.createConnection(server).asPromise()) as Db
  context.onTestFinished(() => db.close())
  const databases = { live: { db }, sandbox: { db: sandboxDatabase(db) } }
  const places = await findEverywhere(databases, guest.made)
  expect(new Set(places.map((place) => place.split(':')[0]))).toEqual(
    new Set(['users', 'bookings', 'stored_responses', 'messages', 'host_audit']),
  )
  const hintsBefore = received.length
  const receipts = join(folder, 'receipts.ndjson')
  for (const { user_id } of guests)
    await command(
      'guests',
      'erase',
      '--user',
      String(user_id),
      '--yes',
      '--with-open-stays',
      '--receipts',
      receipts,
    )
  const erased = (await send('GET', `${provider}/messages?per_page=100`)).body.data.messages
  const versions = new Map(erased.map((one: { id: number; version: string }) => [one.id, one.version]))
  expect(erased.filter(({ erased_at }: { erased_at: string | null }) => erased_at)).toHaveLength(feed.length)
  const told = () =>
    new Set(
      received
        .slice(hintsBefore)
        .filter(
          ({ hint: { type, data } }) =>
            type === 'message.created' && versions.get(data.message_id) === data.version,
        )
        .map(({ hint }) => hint.data.message_id),
    ).size
  await expect.poll(told).toBe(erased.length)

  const canaries = [...guests.flatMap(({ made }) => made), name, value, query, header, ...sandboxed]
  expect(canaries.length).toBeGreaterThanOrEqual(100)
  // The last request's log entry is stored with a delay.
  await Bun.sleep(3000)
  expect(await db.collection('requests').countDocuments()).toBeGreaterThan(50)
  expect(await findEverywhere(databases, canaries)).toEqual([])
  const metrics = await fetch(`${service.url}/metrics`, {
    headers: { authorization: `Bearer ${METRICS_TOKEN}` },
  })
  const elsewhere = {
    redis: await bytesOf(redis.url, folder),
    log: service.output(),
    mongod: await readFile(join(environment.DATA_DIR, 'mongod.log'), 'latin1'),
    metrics: await metrics.text(),
    hints: received.map(({ body, headers: sent }) => body + JSON.stringify(sent)).join('\n'),
    receipts: await readFile(receipts, 'utf8'),
  }
  for (const [place, text] of Object.entries(elsewhere)) {
    expect(text.length, place).toBeGreaterThan(200)
    const found = canaries.filter((one) => text.toLowerCase().includes(one.toLowerCase()))
    expect({ place, found }).toEqual({ place, found: [] })
  }
})

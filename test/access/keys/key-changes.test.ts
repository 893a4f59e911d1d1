import { expect, onTestFinished, test } from 'vitest'
import { KeyAuthorizer } from '../../../src/access/keys/authorizer.ts'
import { KeyChanges } from '../../../src/access/keys/key-changes.ts'
import { hashApiKey } from '../../../src/access/keys/secret.ts'
import { updateKey } from '../../../src/access/keys/store.ts'
import { announceKeyChange } from '../../../src/host-clock/change-store.ts'
import { HostChanges, type StreamListener } from '../../../src/host-clock/changes.ts'
import { hostClockModel } from '../../../src/host-clock/model.ts'
import { databaseNameOf, openMongo } from '../../../src/platform/mongo/connection.ts'
import { MemoryRateLimiter } from '../../../src/platform/rate-limiter.ts'
import { partnerctlHere } from '../../support/admin.ts'
import { type Actor, testApp } from '../../support/app.ts'
import { mongodbUrlOf, ownDatabase } from '../../support/databases.ts'
import { startMongoRelay } from '../../support/mongo-relay.ts'
import { killStreams } from '../../support/streams.ts'

const url = await ownDatabase()
/** The service's clock stands still, so its cached records never become old: only announcements make them stale. */
const now = new Date()
const service = await testApp({ MONGODB_URL: `${url}&monitorCommands=true`, REDIS_URL: '' }, () => now)
const { db, log } = service.live

/** Returns the reads of keys and hosts that a request causes. */
async function recordsReadBy(actor: Actor, path = '/v1/me'): Promise<string[]> {
  const read: string[] = []
  const note = ({ databaseName, commandName, command }: Started) => {
    const collection = command[commandName]
    if (databaseName !== databaseNameOf(url) || commandName !== 'find') return
    if (collection === 'keys' || collection === 'hosts') read.push(collection as string)
  }
  const client = db.getClient()
  client.on('commandStarted', note)
  const { status } = await actor.send('GET', path)
  client.off('commandStarted', note)
  expect(status).toBe(200)
  return read
}

interface Started {
  databaseName: string
  commandName: string
  command: Record<string, unknown>
}

/** Creates a host with a key that is in use, so that requests are authorized from its cached record. */
async function usedKey(): Promise<Actor> {
  const actor = await service.actor({ permissions: ['bookings.read', 'listings.read'] })
  await expect.poll(() => recordsReadBy(actor)).toEqual([])
  return actor
}

test('without Redis, a request reads no record of its key while changes are announced', async () => {
  const actor = await usedKey()
  for (let count = 0; count < 5; count += 1) expect(await recordsReadBy(actor)).toEqual([])
  expect(await recordsReadBy(actor, '/v1/listings')).toEqual([])
})

const feed = '/v1/integrations/provider_one/bookings'
const status = async (actor: Actor, path: string) => (await actor.send('GET', path)).status

test.each<[what: string, args: (actor: Actor) => string[], path: string, answer: number]>([
  ['revoked', ({ keyId }) => ['keys', 'revoke', `${keyId}`, '--yes'], feed, 401],
  ['deactivated', ({ keyId }) => ['keys', 'deactivate', `${keyId}`], feed, 401],
  [
    'limited to a permission',
    ({ keyId }) => ['keys', 'update', `${keyId}`, '--permission', 'users.read'],
    feed,
    403,
  ],
  [
    'limited to a network',
    ({ keyId }) => ['keys', 'update', `${keyId}`, '--allow-from', '192.0.2.0/24'],
    feed,
    403,
  ],
  ['limited to a rate', ({ keyId }) => ['keys', 'update', `${keyId}`, '--rate-limit', '1'], feed, 429],
  ['of a suspended host', ({ hostId }) => ['hosts', 'suspend', `${hostId}`, '--yes'], feed, 401],
])('without Redis, the command tells a service that a key is %s', async (_, args, path, answer) => {
  const actor = await usedKey()
  const { code, stderr } = await partnerctlHere(args(actor), { MONGODB_URL: url, REDIS_URL: '' })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  await expect.poll(() => status(actor, path)).toBe(answer)
})

test('without Redis, a key is told to be usable again, a host to be resumed, and a host to have another name', async () => {
  const actor = await usedKey()
  const command = (...args: string[]) => partnerctlHere(args, { MONGODB_URL: url, REDIS_URL: '' })
  await command('keys', 'deactivate', `${actor.keyId}`)
  await expect.poll(() => status(actor, '/v1/me')).toBe(401)
  await command('keys', 'activate', `${actor.keyId}`)
  await expect.poll(() => status(actor, '/v1/me')).toBe(200)
  await command('hosts', 'suspend', `${actor.hostId}`, '--yes')
  await expect.poll(() => status(actor, '/v1/me')).toBe(401)
  await command('hosts', 'resume', `${actor.hostId}`)
  await expect.poll(() => status(actor, '/v1/me')).toBe(200)
  await command('hosts', 'update', `${actor.hostId}`, '--name', 'Another name')
  await expect.poll(async () => (await actor.send('GET', '/v1/me')).body.data.name).toBe('Another name')
})

test('a record that was read before a change is not used after the announcement, even if it arrives later', async () => {
  const actor = await service.actor()
  const relay = await startMongoRelay(url)
  onTestFinished(() => relay.stop())
  const slow = await openMongo(relay.url, true)
  onTestFinished(() => slow.close())
  const rateLimiter = new MemoryRateLimiter()
  onTestFinished(() => rateLimiter.close())
  const keyChanges = new KeyChanges(service.live.changes)
  const authorizer = new KeyAuthorizer({ db: slow, rateLimiter, keyChanges }, 1_000_000)
  const authorize = () => authorizer.authorize(actor.key, now, async () => true)
  await expect.poll(() => keyChanges.revision()).not.toBeNull()

  await authorize()
  const before = keyChanges.revision()
  await announceKeyChange(db, [actor.hostId])
  await expect.poll(() => keyChanges.revision()).not.toBe(before)

  const known = keyChanges.revision()
  relay.hold()
  const reading = authorize()
  await expect.poll(() => relay.holds(hashApiKey(actor.key))).toBe(true)
  await updateKey(db, String(actor.keyId), { active: false })
  await announceKeyChange(db, [actor.hostId])
  await expect.poll(() => keyChanges.revision()).not.toBe(known)
  relay.release()
  // The request came before the change.
  expect((await reading).allowed).toBe(true)
  await expect(authorize()).rejects.toThrow('API key is inactive')
})

test('a killed stream tells of the changes in the meantime or that it was lost, and so does one whose collection is dropped', async () => {
  const apart = await openMongo(`${mongodbUrlOf(`dropped_${process.pid}`)}&monitorCommands=true`, true)
  onTestFinished(() => apart.close())
  onTestFinished(() => apart.dropDatabase())
  await hostClockModel(apart).create({ _id: 1, last: 0, messages_last: 0, sequence: 0 })
  const events: string[] = []
  let heard = 0
  const listener: StreamListener = {
    heard: () => {
      heard += 1
    },
    keysChanged: () => void events.push('changed'),
    lost: () => void events.push('lost'),
  }
  const changes = new HostChanges(apart, log)
  onTestFinished(() => changes.close())
  changes.listen(listener)
  const isHeardAgain = async () => {
    const sofar = heard
    // Otherwise, the stream says nothing for seconds.
    const afterChange = async () => {
      await hostClockModel(apart).updateOne({ _id: 1 }, { $inc: { sequence: 1 } })
      return heard
    }
    await expect.poll(afterChange).toBeGreaterThan(sofar)
  }
  await isHeardAgain()
  await announceKeyChange(apart, [1])
  await expect.poll(() => events).toEqual(['changed'])

  // Depending on what the server was doing, the driver continues the stream by itself.
  await expect.poll(() => killStreams(apart)).toBe(1)
  await announceKeyChange(apart, [1])
  await expect.poll(() => events.length).toBeGreaterThan(1)
  await isHeardAgain()

  // A stream that breaks late reports the change when it is open again, unless it is lost once more before that.
  const losses = () => events.filter((event) => event === 'lost').length
  const lost = losses()
  await apart.db?.dropCollection('host_clocks')
  await expect.poll(losses).toBeGreaterThan(lost)
  await hostClockModel(apart).create({ _id: 1, last: 0, messages_last: 0, sequence: 0 })
  await isHeardAgain()
  await announceKeyChange(apart, [1])
  await expect.poll(() => events.slice(events.lastIndexOf('lost'))).toEqual(['lost', 'changed'])
})

/** A stream that a test makes heard. */
function silentStream() {
  let milliseconds = 0
  const listeners: StreamListener[] = []
  const stream = { listen: (listener: StreamListener) => void listeners.push(listener) }
  return {
    keyChanges: new KeyChanges(stream, () => milliseconds),
    listeners,
    pass: (more: number) => {
      milliseconds += more
    },
  }
}

test('there is a revision only while the stream is heard, and none before is valid once it is heard again', () => {
  const { keyChanges, listeners, pass } = silentStream()
  expect(listeners).toEqual([])
  expect(keyChanges.revision()).toBeNull()
  expect(keyChanges.revision()).toBeNull()
  expect(listeners).toEqual([keyChanges])

  keyChanges.heard()
  const first = keyChanges.revision()
  expect(first).not.toBeNull()
  pass(3999)
  expect(keyChanges.revision()).toBe(first)
  keyChanges.heard()
  pass(3999)
  expect(keyChanges.revision()).toBe(first)
  pass(1)
  expect(keyChanges.revision()).toBeNull()

  keyChanges.heard()
  const afterSilence = keyChanges.revision()
  keyChanges.keysChanged()
  const afterChange = keyChanges.revision()
  keyChanges.lost()
  expect(keyChanges.revision()).toBeNull()
  keyChanges.heard()
  const afterLoss = keyChanges.revision()
  expect(new Set([first, afterSilence, afterChange, afterLoss, null]).size).toBe(5)
})

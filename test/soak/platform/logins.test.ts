import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { Redis } from 'ioredis'
import mongoose from 'mongoose'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { becomePrimary, findMongod } from '../../../src/platform/mongo/server/mongod.ts'
import { freePort } from '../../../src/platform/process.ts'
import { RedisRateLimiter } from '../../../src/platform/redis/rate-limiter.ts'
import { sender } from '../../support/app.ts'
import { makeCertificates } from '../../support/certificates.ts'
import { partnerctl, startService } from '../../support/processes.ts'
import { redisTlsOptions, startRedis } from '../../support/redis.ts'

/**
 * Both stores use TLS with our own certificate authority. Their account's password contains every awkward character.
 */
const password = 'p@ss:w/ord,%'
const encoded = encodeURIComponent(password)
const folder = await mkdtemp(join(tmpdir(), 'partner-logins-'))
const { authority, certificate, key } = await makeCertificates(folder)

const redisPort = await freePort()
const redis = await startRedis(undefined, redisTlsOptions(redisPort, { certificate, key, authority }))
const redisAdmin = new Redis(redis.url)
/** Only the rights that operations.md says an account needs. */
const rights = ['~partner:*', '+eval', '+evalsha', '+time', '+lindex', '+lpop', '+rpop', '+llen', '+rpush']
const more = ['+pexpire', '+get', '+incr', '+zremrangebyscore', '+zcard', '+zadd', '+zrem', '+info', '+ping']
await redisAdmin.call('ACL', 'SETUSER', 'partner', 'on', `>${password}`, ...rights, ...more)
await redisAdmin.call('ACL', 'SETUSER', 'default', 'off')
redisAdmin.disconnect()

/** A replica set that requires a login. This server is built without TLS, so a terminator in front of it adds TLS. */
const mongoPort = await freePort()
const keyFile = join(folder, 'member.key')
await Bun.write(keyFile, 'c2hhcmVk'.repeat(8))
await chmod(keyFile, 0o400)
const dbpath = join(folder, 'mongodb')
await Bun.write(join(dbpath, '.keep'), '')
const mongod = Bun.spawn(
  [
    findMongod(),
    '--dbpath',
    dbpath,
    '--port',
    String(mongoPort),
    '--bind_ip',
    '127.0.0.1',
    '--nounixsocket',
    '--replSet',
    'partner',
    '--keyFile',
    keyFile,
    '--oplogSize',
    '64',
    '--wiredTigerCacheSizeGB',
    '0.25',
  ],
  { stdout: 'ignore', stderr: 'ignore' },
)
const terminator = createTlsServer(
  { key: await readFile(key), cert: await readFile(certificate) },
  (client) => {
    const upstream = connectTcp(mongoPort, '127.0.0.1')
    for (const socket of [client, upstream]) socket.on('error', () => socket.destroy())
    client.pipe(upstream).pipe(client)
  },
)
const tlsPort = await freePort()
await new Promise<void>((resolve) => terminator.listen(tlsPort, '127.0.0.1', resolve))

/** Creates the first account, which MongoDB allows from this machine without a login. */
async function makeAccount(): Promise<void> {
  if (!(await becomePrimary(mongoPort, 20_000))) throw new Error('The replica set did not start')
  const url = `mongodb://127.0.0.1:${mongoPort}/?directConnection=true`
  const connection = await mongoose.createConnection(url).asPromise()
  const admin = connection.getClient().db('admin')
  // Only the rights that operations.md says an account needs.
  const roles = [
    { role: 'readWrite', db: 'partner' },
    { role: 'readWrite', db: 'partner_sandbox' },
    { role: 'clusterMonitor', db: 'admin' },
  ]
  await admin.command({ createUser: 'root', pwd: 'first', roles: ['root'] })
  const root = await mongoose
    .createConnection(url.replace('127', 'root:first@127'), { authSource: 'admin' })
    .asPromise()
  await root.getClient().db('admin').command({ createUser: 'partner', pwd: password, roles })
  await Promise.all([connection.close(), root.close()])
}
await makeAccount()
afterAll(async () => {
  terminator.close()
  mongod.kill('SIGKILL')
  await Promise.all([redis.stop(), mongod.exited])
  await rm(folder, { recursive: true, force: true })
})

const common = { LOG_LEVEL: 'warn', SECRET_KEY: 'x'.repeat(40), NODE_ENV: 'production' }
const mongoUrl = (login: string) =>
  `mongodb://${login}@127.0.0.1:${tlsPort}/?directConnection=true&authSource=admin&tls=true&tlsCAFile=${encodeURIComponent(authority)}`
const redisUrl = (login: string) =>
  `rediss://${login}@127.0.0.1:${redisPort}?tlsCAFile=${encodeURIComponent(authority)}`
/** Settings with percent-encoded passwords in the addresses. */
const inUrls = {
  ...common,
  MONGODB_URL: mongoUrl(`partner:${encoded}`),
  REDIS_URL: redisUrl(`partner:${encoded}`),
}
/** Settings with unencoded passwords outside the addresses. */
const apart = {
  ...common,
  MONGODB_URL: mongoUrl('partner'),
  MONGODB_PASSWORD: password,
  REDIS_URL: redisUrl('partner'),
  REDIS_PASSWORD: password,
}

test.each([
  ['in the addresses', inUrls],
  ['apart from them', apart],
])('a service logs in to both stores over TLS, with passwords %s', async (_, environment) => {
  const service = await startService(environment)
  onTestFinished(service.stop)
  const { body } = await sender(fetch, service.url)('GET', '/readyz')
  expect(body).toEqual({ status: 'ready', failing: [] })
  const { stdout } = await partnerctl(['seed', '--json'], environment)
  const seeded = JSON.parse(stdout)
  const booking = { user_id: seeded.user_id, listing_id: seeded.listing_id, checkin_at: '2031-01-01' }
  const create = { key: seeded.key, body: { ...booking, checkout_at: '2031-02-01', message: 'Hi' } }
  expect((await sender(fetch, service.url)('POST', '/v1/bookings', create)).status).toBe(201)
  // A poll with `wait` needs the database's change stream.
  const path = '/v1/integrations/provider_one/bookings?wait=1&updated_after=2099-01-01%2000:00:00'
  expect((await sender(fetch, service.url)('GET', path, { key: seeded.key })).status).toBe(200)
  const check = await partnerctl(['db', 'check'], environment)
  expect(check).toMatchObject({ code: 0, stderr: '' })
  const logged = service
    .output()
    .split('\n')
    .filter((line) => line.includes('"level"'))
  expect(logged).toEqual([])
})

test.each([
  [
    'MongoDB',
    { MONGODB_PASSWORD: 'a-wrong-secret' },
    'Cannot connect to MongoDB at HOST: Authentication failed.',
  ],
  ['Redis', { REDIS_PASSWORD: 'a-wrong-secret' }, 'Redis refuses the password'],
])('a wrong password for %s gives one line without any secret and exit code 1', async (_, wrong, why) => {
  const error = await startService({ ...apart, ...wrong }).then(
    (service) => service.stop().then(() => new Error('It started')),
    (failure: Error) => failure,
  )
  const said = error.message.replace(/127\.0\.0\.1:\d+/, 'HOST')
  expect(said).toBe(`The service did not start (exit code 1):\nCannot start: ${why}\n`)
})

test("an administrator's command also reports a wrong password in one line", async () => {
  const { code, stderr } = await partnerctl(['keys', 'list'], {
    ...apart,
    MONGODB_PASSWORD: 'a-wrong-secret',
  })
  const said = 'Cannot connect to MongoDB at HOST: Authentication failed.\n'
  expect({ code, stderr: stderr.replace(/127\.0\.0\.1:\d+/, 'HOST') }).toEqual({ code: 1, stderr: said })
})

test('a server with a certificate of another authority is not trusted', async () => {
  const url = redisUrl(`partner:${encoded}`).replace(/\?.*/, '')
  await expect(new RedisRateLimiter(url, 'partner').open()).rejects.toThrow(
    'The certificate of Redis is not trusted',
  )
})

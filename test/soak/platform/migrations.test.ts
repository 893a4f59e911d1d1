import { expect, test } from 'vitest'
import { storedResponseModel } from '../../../src/http/idempotency/model.ts'
import { lockModel } from '../../../src/platform/mongo/locks.ts'
import { mongodbUrlOf, seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { readFixture } from '../../support/fixtures.ts'
import { partnerctl } from '../../support/processes.ts'

const url = mongodbUrlOf(`migrations_${crypto.randomUUID().slice(0, 8)}`)
const service = await testApp({ MONGODB_URL: url })
const { db } = service.live
const environment = testEnvironment({ MONGODB_URL: url })
const state = db.collection<{ _id: string }>('schema_version')

/** Runs a command of administrators; its lines, or its document. */
async function administer(...args: string[]) {
  const { code, stdout, stderr } = await partnerctl(['db', ...args], environment)
  return { code, stderr, output: args.includes('--json') ? JSON.parse(stdout || 'null') : stdout }
}

const findingOf = async (check: string) =>
  (await administer('check', '--json')).output.find((finding: { check: string }) => finding.check === check)

test('a new database is at the version of the release, and nothing is left to do', async () => {
  expect(await state.findOne({ _id: 'schema' })).toMatchObject({ version: 2, oldest: 2 })
  expect((await administer('migrate', '--dry-run')).output).toBe('There is nothing to do\n')
  expect(await findingOf('schema')).toMatchObject({ state: 'ok' })
})

test('what the release before stored is found before it is migrated, and migrated where a migration was cut short', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const key = { 'idempotency-key': crypto.randomUUID() }
  const create = { headers: key, body: await readFixture('users/minimal') }
  const first = await actor.send('POST', '/v1/users', create)
  // As the release before has stored it.
  for (const model of [storedResponseModel(db), lockModel(db)])
    await model.collection.updateMany({ host_id: actor.hostId }, { $unset: { host_id: 1 } })
  await state.updateOne({ _id: 'schema' }, { $set: { version: 1, oldest: 1 } })
  const again = await actor.send('POST', '/v1/users', create)
  expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([first.text, 'true'])
  expect((await administer('migrate', '--dry-run', '--json')).output).toEqual([
    { database: db.name, step: 'migrate', what: 'Add the host to stored responses and locks', documents: 2 },
  ])
  expect(await findingOf('schema')).toMatchObject({ state: 'warning' })

  // One that was killed half-way has done a part, and noted nothing.
  await lockModel(db).collection.updateMany({ _id: `listings/${actor.hostId}` } as never, {
    $set: { host_id: actor.hostId },
  })
  await Promise.all([administer('migrate'), administer('migrate')])
  expect(await storedResponseModel(db).countDocuments({ host_id: actor.hostId })).toBe(1)
  expect(await lockModel(db).countDocuments({ host_id: actor.hostId })).toBe(1)
  expect(await state.findOne({ _id: 'schema' })).toMatchObject({ version: 2, oldest: 1 })
  await administer('migrate', '--finish', '--yes')
  expect(await state.findOne({ _id: 'schema' })).toMatchObject({ version: 2, oldest: 2 })
  const listing = await readFixture('demo/listing')
  expect((await actor.send('POST', '/v1/listings', { body: listing })).status).toBe(201)
})

test('the lock that a process of the release before has made meanwhile is taken over', async () => {
  const actor = await service.actor()
  await lockModel(db).collection.insertOne({ _id: `listings/${actor.hostId}`, taken: 7 } as never)
  const body = await readFixture('demo/listing')
  expect((await actor.send('POST', '/v1/listings', { body })).status).toBe(201)
  const lock = await lockModel(db).findById(`listings/${actor.hostId}`).lean()
  expect(lock).toMatchObject({ host_id: actor.hostId, taken: 8 })
})

test('a changed index is reported at the start and by db check, and rebuilt by db migrate unless it is unique', async () => {
  const users = db.collection('users')
  const changed = async (name: string, keys: object, options: object = {}) => {
    await users.dropIndex(name)
    await users.createIndex(keys as never, { name, ...options })
  }
  const bookings = db.collection('bookings')
  await bookings.dropIndex('booking_stay')
  await bookings.createIndex({ host_id: 1 }, { name: 'booking_stay' })
  expect(await findingOf('indexes')).toMatchObject({
    state: 'failed',
    detail: 'booking_stay differs from its definition; "db migrate" puts that right',
  })
  expect((await administer('migrate')).output).toMatch(/rebuild index +booking_stay of bookings/)
  expect(await findingOf('indexes')).toMatchObject({ state: 'ok' })

  await changed('user_email_key', { host_id: 1, email_key: 1 })
  const refused = await administer('migrate')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(
    /^The unique index "user_email_key" of "users" differs from its definition: /,
  )
  await changed('user_email_key', { host_id: 1, email_key: 1 }, { unique: true })
  expect(await findingOf('indexes')).toMatchObject({ state: 'ok' })
})

test('a database that only a later release can serve is left alone, in one line', async () => {
  await state.updateOne({ _id: 'schema' }, { $set: { version: 9, oldest: 8 } })
  for (const args of [['check'], ['migrate'], ['migrate', '--dry-run']]) {
    const { code, stderr } = await administer(...args)
    const line =
      'The database has schema version 8, and this release knows versions up to 2: start a later release\n'
    expect([code, stderr]).toEqual([1, line])
  }
  await state.updateOne({ _id: 'schema' }, { $set: { version: 'x' } })
  const damaged = await administer('check')
  expect([damaged.code, damaged.stderr]).toEqual([
    1,
    'The document of the collection "schema_version" is damaged: two whole numbers are needed\n',
  ])
})

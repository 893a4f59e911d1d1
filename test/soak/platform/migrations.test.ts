import { expect, test } from 'vitest'
import { inspectDatabase } from '../../../src/operations/inspection.ts'
import { release } from '../../../src/operations/release.ts'
import { finishMigrations, migrate, planMigration } from '../../../src/platform/mongo/server/migrations.ts'
import type { Migration, Release } from '../../../src/platform/mongo/server/schema-version.ts'
import { userModel } from '../../../src/stays/users/model.ts'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { mongodbUrlOf } from '../../support/databases.ts'
import { userOf } from '../../support/large-listings.ts'
import { partnerctl } from '../../support/processes.ts'

const url = mongodbUrlOf(`migrations_${crypto.randomUUID().slice(0, 8)}`)
const service = await testApp({ MONGODB_URL: url })
const { db } = service.live
const environment = testEnvironment({ MONGODB_URL: url })
const state = db.collection<{ _id: string }>('schema_version')

/** Runs an administrator's command; returns its lines or its JSON document. */
async function administer(...args: string[]) {
  const { code, stdout, stderr } = await partnerctl(['db', ...args], environment)
  return { code, stderr, output: args.includes('--json') ? JSON.parse(stdout || 'null') : stdout }
}

const findingOf = async (check: string) =>
  (await administer('check', '--json')).output.find((finding: { check: string }) => finding.check === check)

/** A made-up migration: guests have a nickname, and an index that only the previous release needs is dropped. */
const nicknames: Migration = {
  version: 1,
  name: 'Add nicknames to guests',
  remaining: (of) => userModel(of).collection.countDocuments({ nickname: { $exists: false } }),
  async run(of) {
    const { collection } = userModel(of)
    for await (const { _id, name } of collection.find({ nickname: { $exists: false } }))
      await collection.updateOne({ _id }, { $set: { nickname: name } })
  },
  retiredIndexes: { users: ['user_by_shoe_size'] },
}
const next: Release = { ...release, migrations: [...release.migrations, nicknames] }

test('a new database has the version of the release and needs no migration', async () => {
  expect(await state.findOne({ _id: 'schema' })).toMatchObject({ version: 0, oldest: 0 })
  expect((await administer('migrate', '--dry-run')).output).toBe('There is nothing to do\n')
  expect(await findingOf('schema')).toMatchObject({ state: 'ok' })
})

test('a migration is planned, continued after an interruption, run by two processes concurrently, and finished', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const users = db.collection('users')
  await users.createIndex({ shoe_size: 1 }, { name: 'user_by_shoe_size' })
  const guests = await users.countDocuments()
  expect(await planMigration(db, next, false)).toEqual([
    { step: 'migrate', what: 'Add nicknames to guests', documents: guests },
  ])

  // Simulates an interrupted process that has migrated a document but recorded nothing.
  await users.updateOne({}, { $set: { nickname: 'kept' } })
  await Promise.all([migrate(db, next), migrate(db, next)])
  expect(await users.countDocuments({ nickname: { $exists: true } })).toBe(guests)
  expect(await users.countDocuments({ nickname: 'kept' })).toBe(1)
  expect(await state.findOne({ _id: 'schema' })).toMatchObject({ version: 1, oldest: 0 })
  const findings = await inspectDatabase(db, service.live.config.mongodbUrl as string, next)
  expect(findings.find(({ check }) => check === 'schema')).toMatchObject({ state: 'warning' })

  // In the meantime, the previous release stores another document.
  await userOf(await service.actor())
  expect(await planMigration(db, next, true)).toEqual([
    { step: 'migrate', what: 'Add nicknames to guests', documents: 1 },
    { step: 'drop index', what: 'user_by_shoe_size of users', documents: null },
  ])
  await finishMigrations(db, next)
  expect(await users.countDocuments({ nickname: { $exists: false } })).toBe(0)
  expect((await users.indexes()).map(({ name }) => name)).not.toContain('user_by_shoe_size')
  expect(await state.findOne({ _id: 'schema' })).toMatchObject({ version: 1, oldest: 1 })
  await state.updateOne({ _id: 'schema' }, { $set: { version: 0, oldest: 0 } })
})

test('a changed index is reported at the start and by db check, and db migrate rebuilds it unless it is unique', async () => {
  const users = db.collection('users')
  const changed = async (name: string, keys: Record<string, 1 | -1>, options: object = {}) => {
    await users.dropIndex(name)
    await users.createIndex(keys, { name, ...options })
  }
  const bookings = db.collection('bookings')
  await bookings.dropIndex('booking_stay')
  await bookings.createIndex({ owner_id: 1 }, { name: 'booking_stay' })
  expect(await findingOf('indexes')).toMatchObject({
    state: 'failed',
    detail: 'booking_stay differs from its definition; "db migrate" repairs this',
  })
  expect((await administer('migrate')).output).toMatch(/rebuild index +booking_stay of bookings/)
  expect(await findingOf('indexes')).toMatchObject({ state: 'ok' })

  await changed('user_email_key', { owner_id: 1, email_key: 1 })
  const refused = await administer('migrate')
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(
    /^The unique index "user_email_key" of "users" differs from its definition: /,
  )
  await changed('user_email_key', { owner_id: 1, email_key: 1 }, { unique: true })
  expect(await findingOf('indexes')).toMatchObject({ state: 'ok' })
})

test('a database that only a later release can serve is left alone, with a message in one line', async () => {
  await state.updateOne({ _id: 'schema' }, { $set: { version: 9, oldest: 8 } })
  for (const args of [['check'], ['migrate'], ['migrate', '--dry-run']]) {
    const { code, stderr } = await administer(...args)
    const line =
      'The database has schema version 8, and this release knows versions up to 0: start a later release\n'
    expect({ code, stderr }).toEqual({ code: 1, stderr: line })
  }
  await state.updateOne({ _id: 'schema' }, { $set: { version: 'x' } })
  const damaged = await administer('check')
  expect(damaged).toMatchObject({
    code: 1,
    stderr:
      'The document in the collection "schema_version" is damaged: "version" and "oldest" must be whole numbers\n',
  })
})

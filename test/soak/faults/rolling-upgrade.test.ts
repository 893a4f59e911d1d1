import { expect, onTestFinished, test } from 'vitest'
import { toVersion } from '../../../src/host-clock/format.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { type Actor, seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { mongodbUrlOf } from '../../support/databases.ts'
import { KeyedLoad } from '../../support/keyed-load.ts'
import { makeNextRelease, type Replacement } from '../../support/next-release.ts'
import { partnerctl, type ServiceProcess, startService } from '../../support/processes.ts'

/** A made-up next release: bookings have a new indexed field, and each new booking enqueues a job of a new topic. */
const replacements: Replacement[] = [
  {
    file: 'src/stays/bookings/model.ts',
    name: 'bookingModel',
    declaration: `export const bookingModel: typeof earlier = (db) => {
      const model = earlier(db)
      if (!model.schema.path('channel')) {
        model.schema.add({ channel: { type: String, default: null } })
        model.schema.removeIndex('booking_number')
        model.schema.index({ id: 1, channel: 1 }, { name: 'booking_number_channel' })
      }
      return model
    }`,
  },
  {
    file: 'src/stays/bookings/store.ts',
    name: 'insertBookings',
    declaration: `import { enqueueJob } from '../../platform/outbox/outbox.ts'
    export const insertBookings: typeof earlier = async (db, session, bookings) => {
      await earlier(db, session, bookings.map((booking) => ({ ...booking, channel: 'direct' })))
      for (const { id, owner_id, created_at } of bookings) {
        const payload = { booking_id: id }
        await enqueueJob(db, session, created_at, { topic: 'BookingCreated', owner_id, payload })
      }
    }`,
  },
  {
    file: 'src/operations/release.ts',
    name: 'outboxTopics',
    declaration: `export const outboxTopics: typeof earlier = (context) => ({
      ...earlier(context),
      BookingCreated: async ({ booking_id }) => {
        const change = { $inc: { seen: 1 } }
        await context.db.collection('seen_bookings').updateOne({ booking_id }, change, { upsert: true })
      },
    })`,
  },
  {
    file: 'src/operations/migrations.ts',
    name: 'migrations',
    declaration: `export const migrations: typeof earlier = [
      ...earlier,
      {
        version: 1,
        name: 'Add the channel to bookings',
        remaining: (db) => db.collection('bookings').countDocuments({ channel: { $exists: false } }),
        async run(db) {
          const change = { $set: { channel: 'direct' } }
          await db.collection('bookings').updateMany({ channel: { $exists: false } }, change)
        },
        retiredIndexes: { bookings: ['booking_number'] },
      },
    ]`,
  },
]

const url = mongodbUrlOf(`rolling_upgrade_${crypto.randomUUID().slice(0, 8)}`)
const observer = await testApp({ MONGODB_URL: url })
const { db } = observer.live
const environment = testEnvironment({ MONGODB_URL: url })

/** Follows the feed as a partner does; records each booking's latest version and every failure. */
class Poller {
  readonly versions = new Map<number, string>()
  readonly failures: number[] = []
  private isOver = false
  private readonly running: Promise<void>

  constructor(pickUrl: () => string, key: string) {
    this.running = this.poll(pickUrl, key)
  }

  private async poll(pickUrl: () => string, key: string): Promise<void> {
    let after = ''
    for (let isLast = false; !isLast; ) {
      isLast = this.isOver
      const path = `/v1/integrations/provider_one/bookings?per_page=100&${after}`
      const response = await sender(fetch, pickUrl())('GET', path, { key }).catch(() => null)
      if (response && response.status !== 200) this.failures.push(response.status)
      const changes = response?.status === 200 ? response.body.data.Bookings : []
      for (const { booking_id, version } of changes) this.versions.set(booking_id, version)
      const last = changes.at(-1)?.version
      if (last) after = `updated_after=${encodeURIComponent(last)}`
      // The poller stops only after a page without changes.
      if (last || !response) isLast = false
      await Bun.sleep(20)
    }
  }

  /** Resolves once all changes have arrived. */
  async stop(): Promise<void> {
    this.isOver = true
    await this.running
  }
}

/** Returns the stored version of each booking. */
async function storedVersions({ hostId }: Actor): Promise<Map<number, string>> {
  const stored = await bookingModel(db).find({ owner_id: hostId }, { id: 1, updated_at: 1 }).lean()
  return new Map(stored.map(({ id, updated_at }) => [id, toVersion(updated_at)]))
}

test('two releases serve one database together, forwards and back, without losing anything or failing a request', async () => {
  const next = await makeNextRelease(replacements)
  onTestFinished(next.remove)
  const actor = await observer.actor({ rateLimit: 1_000_000 })
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const serving: ServiceProcess[] = []
  onTestFinished(async () => {
    await Promise.all(serving.map((service) => service.stop()))
  })
  const start = async (isNext: boolean) => {
    serving.push(await startService(environment, [], isNext ? next.main : undefined))
    await Bun.sleep(300)
  }
  const ended: Promise<number>[] = []
  /** Stops the oldest process as an operator would, by taking it out of the load balancer before SIGTERM. */
  const end = async () => {
    const service = serving.shift() as ServiceProcess
    await Bun.sleep(300)
    ended.push(service.end('SIGTERM'))
  }
  const administer = (...args: string[]) => partnerctl(args, environment, undefined, next.cli)

  await start(false)
  let turn = 0
  const pickUrl = () => (serving[turn++ % serving.length] as ServiceProcess).url
  const load = new KeyedLoad(pickUrl, actor.key, { ...stay, message: 'Hi' })
  const poller = new Poller(pickUrl, actor.key)
  await load.resumption(10_000)

  const plan = JSON.parse((await administer('db', 'migrate', '--dry-run', '--json')).stdout)
  const live = plan.filter(({ database }: { database: string }) => database === db.name)
  expect(live).toMatchObject([
    { step: 'migrate', what: 'Add the channel to bookings', documents: expect.any(Number) },
    { step: 'create index', what: 'booking_number_channel of bookings' },
  ])
  expect((await administer('db', 'migrate')).code).toBe(0)
  await start(true)
  await end()
  // The rollback: the previous release starts on data that the next release has migrated.
  await start(false)
  await end()
  await load.resumption(10_000)
  // The final upgrade: every `Idempotency-Key` gets the same response from both releases.
  await start(true)
  const keys = [...load.acknowledged].filter((_, index) => index % 20 === 0)
  for (const { url: of } of serving)
    for (const [key, bookingId] of keys) {
      const again = { key: actor.key, headers: { 'idempotency-key': key }, body: { ...stay, message: 'Hi' } }
      const { body } = await sender(fetch, of)('POST', '/v1/bookings', again)
      expect(body.data.booking_id).toBe(bookingId)
    }
  await end()
  await load.stop()
  await poller.stop()
  expect(await Promise.all(ended)).toEqual([0, 0, 0])

  expect(load.failures[500]).toBeUndefined()
  expect(poller.failures).toEqual([])
  const acknowledged = [...load.acknowledged.values()]
  const stored = await storedVersions(actor)
  // One booking was created before the load started.
  expect(stored.size).toBe(new Set([booking_id, ...acknowledged]).size)
  expect(stored.size).toBe(acknowledged.length + 1)
  expect(poller.versions).toEqual(stored)
  await expect.poll(() => db.collection('outbox').countDocuments({ topic: 'BookingCreated' })).toBe(0)

  expect((await administer('db', 'migrate', '--finish', '--yes')).code).toBe(0)
  expect(await db.collection('bookings').countDocuments({ channel: { $exists: false } })).toBe(0)
  const names = (await db.collection('bookings').indexes()).map(({ name }) => name)
  expect(names).toContain('booking_number_channel')
  expect(names).not.toContain('booking_number')
  await expect(startService(environment)).rejects.toThrow(
    /The service did not start \(exit code 1\):\nCannot start: The database has schema version 1, and this release knows versions up to 0: start a later release\n$/,
  )
  const refused = await partnerctl(['keys', 'list'], environment)
  expect({ code: refused.code, lines: refused.stderr.trim().split('\n').length }).toEqual({
    code: 1,
    lines: 1,
  })
})

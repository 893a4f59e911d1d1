import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { bookingModel } from '../../../src/stays/bookings/model.ts'
import { eraseGuest } from '../../../src/stays/guests/erase.ts'
import { messageModel } from '../../../src/stays/messages/model.ts'
import { userModel } from '../../../src/stays/users/model.ts'
import { findUserOfAnyHost } from '../../../src/stays/users/store.ts'
import { type Actor, seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { httpFeed, messagesOf, Poller, truthOf } from '../../support/history.ts'
import { partnerctl, root, type ServiceProcess, startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const MONGODB_URL = await ownDatabase()
const service = await testApp({ MONGODB_URL, LOG_LEVEL: 'silent' })
const { db } = service.live

type Place = Pick<Awaited<ReturnType<typeof seedBooking>>, 'listing_id' | 'room_type_id'>

/** Creates a guest with past bookings and messages. */
async function makeGuest(actor: Actor, { listing_id, room_type_id }: Place, bookings = 2, messages = 2) {
  const canary = `Canary${crypto.randomUUID().replaceAll('-', '')}`
  const keyed = () => ({ 'idempotency-key': crypto.randomUUID() })
  const person = { email: `${canary}@example.com`, first_name: canary, last_name: canary }
  const { user_id } = (await actor.send('POST', '/v1/users', { body: person, headers: keyed() })).body.data
  for (let count = 0; count < bookings; count += 1) {
    const stay = {
      checkin_at: `20${10 + count}-01-01`,
      checkout_at: `20${10 + count}-02-01`,
      message: canary,
    }
    const body = { user_id, listing_id, room_type_id, ...stay }
    const { booking_id } = (await actor.send('POST', '/v1/bookings', { body, headers: keyed() })).body.data
    for (let sent = 0; sent < messages; sent += 1) {
      const message = { message: { text: `${canary} ${sent}` } }
      await actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: message, headers: keyed() })
    }
    const reason = { reason: canary }
    await actor.send('POST', `/v1/bookings/${booking_id}/cancel`, { body: reason, headers: keyed() })
  }
  return { user_id: user_id as number, canary }
}

async function isAnywhere(text: string): Promise<string[]> {
  const found: string[] = []
  for (const { name } of await db.listCollections())
    for await (const document of db.collection(name).find())
      if (JSON.stringify(document).toLowerCase().includes(text.toLowerCase())) found.push(name)
  return found
}

/** Returns the erased bookings and messages, each with the version of its erasure. */
async function erasedSoFar(hostId: number): Promise<Map<string, number>> {
  const erased = { owner_id: hostId, erased_at: { $ne: null } }
  const [bookings, messages] = await Promise.all([
    bookingModel(db).find(erased).lean(),
    messageModel(db).find(erased).lean(),
  ])
  return new Map([
    ...bookings.map(({ id, updated_at }) => [`booking ${id}`, updated_at.getTime()] as const),
    ...messages.map(({ id, version }) => [`message ${id}`, version.getTime()] as const),
  ])
}

/**
 * Polls both of a host's feeds, by page and by cursor, while other guests book and send messages. `end` returns the
 * items that each poller missed and the errors it saw.
 */
async function beginHistory(url: string) {
  const actor = await service.actor()
  const { user_id, booking_id, listing_id, room_type_id } = await seedBooking(actor)
  const place = { listing_id, room_type_id }
  const stay = { user_id, ...place, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const send = sender(fetch, url)
  const pollers = (['bookings', 'messages'] as const).flatMap((kind) =>
    [true, false].map((byCursor) => ({
      kind,
      poller: new Poller(
        `${kind}, ${byCursor}`,
        httpFeed(() => url, actor.key, kind),
        { perPage: 7, byCursor },
      ),
    })),
  )
  let isOver = false
  const until = async (work: () => Promise<unknown>, pause: number) => {
    while (!isOver) {
      await work()
      await Bun.sleep(pause)
    }
  }
  const working = [
    ...pollers.map(({ poller }) => until(() => poller.poll(), 200)),
    until(() => send('POST', '/v1/bookings', { key: actor.key, body: stay }), 1000),
    until(
      () =>
        send('POST', `/v1/bookings/${booking_id}/messages`, {
          key: actor.key,
          body: { message: { text: 'beside' } },
        }),
      1000,
    ),
  ]
  return {
    actor,
    place,
    async end() {
      isOver = true
      await Promise.all(working)
      const truths = {
        bookings: await truthOf(db, actor.hostId),
        messages: await messagesOf(db, actor.hostId),
      }
      for (const { poller, kind } of pollers) {
        await poller.poll()
        expect({ name: poller.name, changes: await poller.poll() }).toEqual({ name: poller.name, changes: 0 })
        expect(poller.known.size).toBe(truths[kind].size)
        expect({ losses: poller.losses(truths[kind]), complaints: poller.complaints }).toEqual({
          losses: [],
          complaints: [],
        })
      }
      return pollers[0]?.poller.known.size ?? 0
    },
  }
}

/** Number of guests per host. With more, versions would run so far ahead of the clock that erasures would wait. */
const guestsOfHost = 20
/**
 * Distance between the tested kill points. Each statement has two: before it is sent and after its response. A longer
 * soak tests all kill points.
 */
const stride = soakFactor > 1 ? 1 : 10

async function eraseUntil(userId: number, statement: number, at: 'started' | 'succeeded') {
  const child = Bun.spawn(
    [
      process.execPath,
      'test/soak/guests/erase-until.program.ts',
      MONGODB_URL,
      String(userId),
      String(statement),
      at,
    ],
    { cwd: root, env: { PATH: process.env.PATH ?? '' }, stdout: 'pipe', stderr: 'inherit' },
  )
  const text = await new Response(child.stdout).text()
  return { isDone: (await child.exited) === 0, text }
}

/** Kills a new guest's erasure, repeats it and checks the result. Returns false if it finished before the kill. */
async function killAndRepeat(actor: Actor, place: Place, round: number): Promise<boolean> {
  const statement = 1 + Math.floor(round / 2)
  const at = round % 2 === 0 ? 'started' : 'succeeded'
  const { user_id, canary } = await makeGuest(actor, place)
  const { isDone } = await eraseUntil(user_id, statement, at)
  const before = await erasedSoFar(actor.hostId)
  await eraseGuest(service.live, await findUserOfAnyHost(db, user_id))
  const after = await erasedSoFar(actor.hostId)
  for (const [name, version] of before)
    expect({ statement, name, version: after.get(name) }).toEqual({ statement, name, version })
  expect({ statement, places: await isAnywhere(canary) }).toEqual({ statement, places: [] })
  return !isDone
}

test('an erasure killed at any statement is finished by a repeat, with one version for each item, and pollers lose nothing', async () => {
  const process = await startService(testEnvironment({ MONGODB_URL, LOG_LEVEL: 'silent' }))
  let killed = 0
  let seen = 0
  let isKilled = true
  for (let round = Math.floor(Math.random() * stride); isKilled; ) {
    const { actor, place, end } = await beginHistory(process.url)
    for (let guest = 0; guest < guestsOfHost && isKilled; guest += 1, round += stride) {
      isKilled = await killAndRepeat(actor, place, round)
      killed += Number(isKilled)
    }
    seen += await end()
  }
  await process.stop()
  console.log(`Killed ${killed} times; the pollers know ${seen} bookings`)
  expect(killed).toBeGreaterThan(100 / stride)
})

/**
 * Number of old guests per host. With many more, versions would run so far ahead of the clock that erasures would wait.
 */
const oldOfHost = 300

/** Creates a host's guests, with ids from `firstId` up. Each guest has only one stay, which ended long ago. */
async function makeOldGuests(actor: Actor, firstId: number): Promise<void> {
  const { user_id, booking_id } = await seedBooking(actor)
  const { _id: _, ...user } = await userModel(db).findOne({ id: user_id }).lean().orFail()
  const { _id: __, ...booking } = await bookingModel(db).findOne({ id: booking_id }).lean().orFail()
  const ids = Array.from({ length: oldOfHost }, (_, index) => firstId + index)
  const emailOf = (id: number) => `old-${id}@example.com`
  await db
    .collection('users')
    .insertMany(ids.map((id) => ({ ...user, id, email: emailOf(id), email_key: emailOf(id) })))
  const longAgo = { checkin_at: '2012-01-01', checkout_at: '2012-02-01' }
  await db.collection('bookings').insertMany(
    ids.map((id, index) => ({
      ...booking,
      ...longAgo,
      id,
      user_id: id,
      updated_at: new Date(1_300_000_000_000 + index * 1000),
    })),
  )
}

test("erasures by age do not block other hosts' requests and erase every guest of that age", async () => {
  const firstId = 50_000_000
  const count = oldOfHost * soakFactor
  for (let made = 0; made < count; made += oldOfHost)
    await makeOldGuests(await service.actor(), firstId + made)
  const other = await service.actor()
  const seeded = await seedBooking(other)
  const times: Record<'calm' | 'beside', number[]> = { calm: [], beside: [] }
  const measure = async (into: number[]) => {
    const start = performance.now()
    const { status } = await other.send('GET', `/v1/integrations/provider_one/bookings/${seeded.booking_id}`)
    expect(status).toBe(200)
    into.push(performance.now() - start)
  }
  for (let calm = 0; calm < 200; calm += 1) await measure(times.calm)
  const args = ['guests', 'erase', '--stays-ended-before', '2013-01-01', '--yes', '--json']
  const erasing = partnerctl(args, { MONGODB_URL })
  let isOver = false
  erasing.finally(() => {
    isOver = true
  })
  while (!isOver) await measure(times.beside)
  const { code, stdout } = await erasing
  expect({ code, guests: JSON.parse(stdout).length }).toEqual({ code: 0, guests: count })
  expect(await userModel(db).countDocuments({ erased_at: null, id: { $gte: firstId } })).toBe(0)
  const p95 = (values: number[]) =>
    values.sort((one, two) => one - two)[Math.floor(values.length * 0.95)] as number
  console.log(
    `${count} guests; p95 of others ${p95(times.calm).toFixed(1)} ms calm, ${p95(times.beside).toFixed(1)} ms beside it`,
  )
})

test('after a restore, data erased since the backup is gone before the service serves requests', async ({
  onTestFinished,
}) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-erasure-'))
  const DATA_DIR = join(folder, 'data')
  const environment = { DATA_DIR, PORT: String(await freePort()), LOG_LEVEL: 'warn' }
  const running: ServiceProcess[] = []
  onTestFinished(async () => {
    await Promise.all(running.map((one) => one.end('SIGTERM')))
    await rm(folder, { recursive: true, force: true })
  })
  const command = async (...args: string[]) => {
    const done = await partnerctl([...args, '--json'], environment)
    if (done.code !== 0) throw new Error(`${args.join(' ')}: ${done.stderr}`)
    return done.stdout
  }
  const start = async () => {
    running.push(await startService(environment))
    return running.at(-1) as ServiceProcess
  }
  const first = await start()
  const hosts = JSON.parse(await command('hosts', 'list'))
  const minted = JSON.parse(
    await command(
      'keys',
      'mint',
      '--host',
      String(hosts[0].id),
      '--name',
      'k',
      '--permission',
      'users.write',
    ),
  )
  const canary = `Canary${crypto.randomUUID().replaceAll('-', '')}`
  const body = { email: `${canary}@example.com`, first_name: canary, last_name: canary }
  const made = await sender(fetch, first.url)('POST', '/v1/users', { key: minted.key, body })
  const id = String(made.body.data.user_id)
  const backup = join(folder, 'backup')
  const receipts = join(folder, 'receipts.ndjson')
  await command('db', 'backup', backup)
  await command('guests', 'erase', '--user', id, '--yes', '--receipts', receipts)
  expect(await command('guests', 'export', '--user', id)).not.toContain(canary)
  await first.end('SIGTERM')
  running.pop()
  const restored = await partnerctl(['db', 'restore', backup, '--yes'], environment)
  expect({ code: restored.code, stderr: restored.stderr }).toEqual({
    code: 0,
    stderr: expect.stringContaining('--from-receipts'),
  })
  expect(await command('guests', 'export', '--user', id)).toContain(canary)
  await command('guests', 'erase', '--from-receipts', receipts, '--yes')
  expect(await command('guests', 'export', '--user', id)).not.toContain(canary)
})

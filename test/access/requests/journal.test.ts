import { afterAll, expect, test } from 'vitest'
import { addCounts, findCounts } from '../../../src/access/requests/counts-store.ts'
import {
  maxNetworks,
  maxUnwritten,
  maxUnwrittenOfKey,
  RequestJournal,
} from '../../../src/access/requests/journal.ts'
import {
  failureMilliseconds,
  findRequests,
  insertRequests,
  toStoredRequest,
} from '../../../src/access/requests/store.ts'
import { loggedCharacters, loggedProblems, shortenFailure } from '../../../src/http/answer/record.ts'
import type { RequestEntry } from '../../../src/http/request.ts'
import { openLog } from '../../../src/platform/log.ts'
import { openMongo } from '../../../src/platform/mongo/connection.ts'
import { testApp, testEnvironment } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { startService } from '../../support/processes.ts'

const service = await testApp()
const { db } = service.live
const listed = { isListed: true, isCounted: true }

type Key = ReturnType<typeof newKey>
let keys = 1_000_000
/** Returns a key that no other test uses. */
const newKey = () => ({ id: ++keys, hostId: keys })

const entry = (status: number, at = new Date(), id: string = crypto.randomUUID()): RequestEntry => ({
  at,
  request_id: id,
  method: 'GET',
  path: '/v1/me',
  status,
  error: null,
  duration_ms: 1,
  replayed: false,
  sandbox: false,
  address: '127.0.0.1',
  fault: null,
})

function openJournal(on = db) {
  let dropped = 0
  const journal = new RequestJournal(on, openLog('silent'), (entries) => {
    dropped += entries
  })
  afterAll(() => journal.close())
  return { journal, dropped: () => dropped }
}

const storedOf = (key_id: number, failed: boolean) =>
  db.collection('requests').countDocuments({ key_id, failed })

test('failed authentications of 1,000 networks are counted by themselves in an hour, all others together', async () => {
  const { journal, dropped } = openJournal()
  // The hour must be current, because the database may delete day-old counts at any time.
  const at = new Date()
  const fail = (address: string, time = at) => journal.countFailure(address, { ...entry(401), at: time })
  const counts = (address: RegExp) => db.collection('request_counts').countDocuments({ address })
  for (let count = 0; count < 2 * maxNetworks; count += 1) {
    fail(`flood-${count}`)
    if (count % maxNetworks === 10) await journal.flush()
  }
  fail('flood-0')
  await journal.flush()
  expect({ flood: await counts(/^flood-/), others: await counts(/^others$/), dropped: dropped() }).toEqual({
    flood: maxNetworks,
    others: 1,
    dropped: 0,
  })
  const others = await db.collection('request_counts').findOne({ address: 'others' })
  expect(Object.values(others?.minutes ?? {})).toEqual([{ refused: maxNetworks }])
  fail('flood-after', new Date(at.getTime() + 3_600_000))
  await journal.flush()
  expect(await counts(/^flood-after$/)).toBe(1)
})

test('a process keeps 10,000 unwritten entries and counts the entries it drops', async () => {
  const { journal, dropped } = openJournal()
  const several = Array.from({ length: 10 }, newKey)
  const record = (count: number) => journal.record(several[count % 10] as Key, entry(404), listed)
  for (let count = 0; count < maxUnwritten + 25; count += 1) record(count)
  expect(dropped()).toBe(25)
  await journal.flush()
  record(0)
  expect(dropped()).toBe(25)
})

test("a key that is refused very often leaves room for other keys' entries, and every refusal is counted", async () => {
  const { journal, dropped } = openJournal()
  const fast = newKey()
  const other = newKey()
  for (let count = 0; count < 2 * maxUnwritten; count += 1) journal.record(fast, entry(429), listed)
  for (let count = 0; count < 1000; count += 1) journal.record(other, entry(404), listed)
  await journal.flush()
  expect(dropped()).toBeGreaterThan(0)
  expect({ fast: await storedOf(fast.id, true), other: await storedOf(other.id, true) }).toEqual({
    fast: maxUnwrittenOfKey,
    other: 1000,
  })
  const counts = await findCounts(
    db,
    { host_id: fast.hostId, key_id: fast.id },
    new Date(Date.now() - 60_000),
  )
  const total = counts.flatMap(([, kinds]) => Object.values(kinds)).reduce((sum, count) => sum + count, 0)
  expect(total).toBe(2 * maxUnwritten)
})

test('each key keeps its last 10,000 failures and its last 1,000 other entries', async () => {
  const { journal, dropped } = openJournal()
  const key = newKey()
  const start = Date.now()
  for (let count = 0; count < 12_000; count += 1) {
    journal.record(key, entry(422, new Date(start + count), `failure-${count}`), listed)
    if (count % 5 === 0) journal.record(key, entry(200, new Date(start + count)), listed)
    if (count % 777 === 0) await journal.flush()
  }
  await journal.flush()
  expect(dropped()).toBe(0)
  const failures = await storedOf(key.id, true)
  expect(failures).toBeGreaterThanOrEqual(9900)
  expect(failures).toBeLessThanOrEqual(10_000)
  const others = await storedOf(key.id, false)
  expect(others).toBeGreaterThanOrEqual(1000)
  expect(others).toBeLessThanOrEqual(1100)
  const [newest] = await findRequests(db, { key_id: key.id, statuses: ['4xx'] }, 1, new Date())
  expect(newest?.request_id).toBe('failure-11999')
})

test('failures are hidden after a week, and the database deletes them', async () => {
  // The entries must be new, because the database may delete week-old entries at any time.
  const then = Date.now()
  const { journal } = openJournal()
  const key = newKey()
  journal.record(key, entry(404, new Date(then)), listed)
  journal.record(key, entry(200, new Date(then)), listed)
  await journal.flush()
  const seenAt = async (now: number) =>
    (await findRequests(db, { key_id: key.id }, 10, new Date(now))).map(({ status }) => status)
  expect((await seenAt(then)).sort()).toEqual([200, 404])
  expect(await seenAt(then + failureMilliseconds + 60_000)).toEqual([200])
  const [stored] = await db.collection('requests').find({ key_id: key.id, failed: true }).toArray()
  expect(stored?.expires_at.getTime()).toBe(then + failureMilliseconds)
  const indexes = await db.collection('requests').indexes()
  expect(indexes.find(({ name }) => name === 'request_expiry')).toMatchObject({
    key: { expires_at: 1 },
    expireAfterSeconds: 0,
  })
})

test('entries that cannot be written are kept until they can be', async () => {
  const own = await openMongo(await ownDatabase())
  afterAll(() => own.close())
  const requests = own.collection('requests')
  const { journal, dropped } = openJournal(own)
  const key = newKey()
  const record = (entries: number) => {
    for (let count = 0; count < entries; count += 1) journal.record(key, entry(404), listed)
  }
  const refuse = (validator: object) => own.db?.command({ collMod: 'requests', validator })
  const stored = () => requests.find().toArray()
  record(30)
  await journal.flush()
  await refuse({ host_id: -1 })
  record(40)
  await journal.flush()
  expect(await stored()).toHaveLength(30)
  record(50)
  await refuse({})
  await journal.flush()
  const ids = (await stored()).map(({ request_id }) => request_id)
  expect({ entries: ids.length, ids: new Set(ids).size, dropped: dropped() }).toEqual({
    entries: 120,
    ids: 120,
    dropped: 0,
  })
})

test('writing a batch again changes nothing, as after a write with an unknown result', async () => {
  const key = newKey()
  const minute = Date.now() - (Date.now() % 60_000)
  const journal = crypto.randomUUID()
  const counted = [{ key, counts: new Map([[minute, { refused: 2 }]]) }]
  const batches = [1, 2].map((batch) => ({
    batch,
    requests: [1, 2].map(() => toStoredRequest(key, entry(404))),
  }))
  for (const { batch, requests } of batches.flatMap((one) => [one, one])) {
    await insertRequests(db, requests)
    await addCounts(db, journal, batch, counted)
  }
  const found = await findRequests(db, { key_id: key.id }, 10, new Date())
  expect({ entries: found.length, ids: new Set(found.map(({ id }) => id)).size }).toEqual({
    entries: 4,
    ids: 4,
  })
  const owner = { host_id: key.hostId, key_id: key.id }
  expect(await findCounts(db, owner, new Date(minute))).toEqual([[new Date(minute), { refused: 4 }]])
})

test('a process writes its unwritten entries before it stops', async () => {
  const server = await startService(testEnvironment())
  const actor = await service.actor()
  const sent = Array.from({ length: 20 }, () =>
    fetch(`${server.url}/v1/me`, { headers: { 'x-api-key': actor.key } }),
  )
  await Promise.all(sent)
  await server.end('SIGTERM')
  expect(await storedOf(actor.keyId, false)).toBe(20)
})

test('a logged error keeps its first problems and the first characters of each message', () => {
  const problem = { path: 'data', code: 'invalid', message: 'x'.repeat(5000) }
  const failure = {
    type: 'validation_error',
    message: 'Not valid',
    errors: Array.from({ length: 100 }, () => problem),
  }
  const error = shortenFailure(failure)
  expect(error.errors).toHaveLength(loggedProblems)
  expect(error.errors[0]?.message).toHaveLength(loggedCharacters)
})

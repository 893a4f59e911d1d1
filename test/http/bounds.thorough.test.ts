import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mintKey } from '../../src/access/keys/store.ts'
import { pacedStream } from '../../src/http/answer/send.ts'
import { BodyBudget } from '../../src/http/input/body-budget.ts'
import { testApp } from '../support/app.ts'
import { runs } from '../support/soak.ts'

const service = await testApp()
const mebibyte = 1024 * 1024
/** An id that belongs to no key or host. */
let ownerId = 9_000_000_000

/** Announces a body of the host to the process's budget. */
function announce(hostId: number, maxBytes: number) {
  return service.live.bodyBudget.join({ hostId, maxBytes, end: () => {} })
}

test('a body of more than 100,000 values gets 422 before it is parsed, and commas in strings do not count', async () => {
  const actor = await service.actor()
  const listing = (x: string) =>
    actor.send('POST', '/v1/listings', { body: `{"name":"L","x":${x},"original_id":"values"}` })
  const { status, body } = await listing(`[${'0,'.repeat(99_999)}0]`)
  expect({ status, errors: body.error.errors }).toEqual({
    status: 422,
    errors: [{ path: 'body', code: 'max', message: 'The body must contain at most 100000 values' }],
  })
  expect((await listing(JSON.stringify('{[,'.repeat(200_000)))).status).toBe(201)
  expect((await listing(`[${'0,'.repeat(99_000)}0]`)).status).toBe(200)
})

test('bodies count when they arrive, not when they are announced', async () => {
  ownerId += 1
  const announced = Array.from({ length: 20 }, () => announce(ownerId, 10 * mebibyte))
  const sent = announce(ownerId, 10 * mebibyte)
  await sent.arrive(10 * mebibyte)
  for (const body of [...announced, sent]) body.release()
})

test('bodies that arrive slowly but steadily hold up no body of another host', async () => {
  const slow = Array.from({ length: 20 }, () => announce(++ownerId, 10 * mebibyte))
  for (const body of slow) await body.arrive(mebibyte)
  const other = announce(++ownerId, 10 * mebibyte)
  const arrived = other.arrive(10 * mebibyte)
  const isHeldUp = other.isWaiting()
  for (const body of [...slow, other]) body.release()
  await Promise.allSettled([arrived])
  expect(isHeldUp).toBe(false)
})

test('at most four large bodies of one host wait, and those of other hosts do not wait for them', async () => {
  ownerId += 1
  const first = announce(ownerId, 10 * mebibyte)
  await first.arrive(10 * mebibyte)
  first.complete()
  const waiting = Array.from({ length: 4 }, () => announce(ownerId, 10 * mebibyte))
  let arrived = 0
  const turns = waiting.map(async (body) => {
    await body.arrive(7 * mebibyte)
    arrived += 1
    await body.arrive(3 * mebibyte)
    body.release()
  })
  await expect(announce(ownerId, 10 * mebibyte).arrive(7 * mebibyte)).rejects.toMatchObject({
    kind: 'conflict',
  })
  const other = announce(ownerId + 1_000_000, 10 * mebibyte)
  await other.arrive(10 * mebibyte)
  other.release()
  expect({ arrived, isWaiting: waiting.map((body) => body.isWaiting()) }).toEqual({
    arrived: 0,
    isWaiting: [true, true, true, true],
  })
  first.release()
  await Promise.all(turns)
  expect(arrived).toBe(4)
})

test('bodies that each hold a part of the memory never wait for each other in a circle', async () => {
  const limits = { ofHost: 16, ofProcess: 40, waitingOfHost: 100, waiting: 100 }
  const pieceBytes = 65_536
  const budget = new BodyBudget({
    ofHost: limits.ofHost * pieceBytes,
    ofProcess: limits.ofProcess * pieceBytes,
    waitingOfHost: limits.waitingOfHost,
    waiting: limits.waiting,
    patienceMilliseconds: 60_000,
    leastBytesPerSecond: 0,
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ hostId: fc.nat(3), pieces: fc.integer({ min: 1, max: 12 }) }), { maxLength: 30 }),
      async (bodies) => {
        let most = 0
        let held = 0
        const receive = async ({ hostId, pieces }: (typeof bodies)[number]) => {
          const share = budget.join({ hostId, maxBytes: pieces * pieceBytes, end: () => {} })
          for (let piece = 0; piece < pieces; piece += 1) {
            await share.arrive(pieceBytes)
            held += 1
            most = Math.max(most, held)
            await Promise.resolve()
          }
          share.complete()
          held -= pieces
          share.release()
        }
        await Promise.all(bodies.map(receive))
        expect(most).toBeLessThanOrEqual(limits.ofProcess)
      },
    ),
    runs(100),
  )
})

test('the slowest bodies are ended once another body has waited, and only as many as it needs', async () => {
  const ended: string[] = []
  const budget = new BodyBudget({
    ofHost: 16 * mebibyte,
    ofProcess: 32 * mebibyte,
    waitingOfHost: 4,
    waiting: 64,
    patienceMilliseconds: 20,
    leastBytesPerSecond: 50 * 200_000,
  })
  const join = (name: string, hostId: number) =>
    budget.join({ hostId, maxBytes: 10 * mebibyte, end: () => void ended.push(name) })
  const bodies = [join('first', 1), join('second', 2), join('third', 3)]
  for (const body of bodies) await body.arrive(9 * mebibyte)
  const waiting = join('waiting', 4)
  const granted = waiting.arrive(9 * mebibyte)
  expect(waiting.isWaiting()).toBe(true)
  await bodies[1]?.arrive(70_000)
  await granted
  expect({ ended, isWaiting: waiting.isWaiting() }).toEqual({ ended: ['first'], isWaiting: false })
})

test('large bodies are counted for the host, however many keys it has', async () => {
  const actor = await service.actor()
  const other = await service.actor()
  const { db, clock } = service.live
  const second = { host: actor.hostId, name: 'Second', permissions: ['listings.write' as const] }
  const { key } = await mintKey(db, clock, second)
  const large = { body: { name: 'L', original_id: 'large', description: 'x'.repeat(70_000) } }
  const held = announce(actor.hostId, 16 * mebibyte)
  await held.arrive(16 * mebibyte)
  held.complete()
  const waiting = Array.from({ length: 4 }, () => announce(actor.hostId, mebibyte))
  const refused = Promise.allSettled(waiting.map((body) => body.arrive(mebibyte)))
  const refusal = await service.send('POST', '/v1/listings', { ...large, key })
  expect(refusal.status).toBe(409)
  expect((await other.send('POST', '/v1/listings', large)).status).toBe(201)
  for (const body of waiting) body.release()
  await refused
  held.release()
  expect((await actor.send('POST', '/v1/listings', large)).status).toBe(201)
})

test('a body stops waiting once its sender has gone', async () => {
  ownerId += 1
  const held = announce(ownerId, 16 * mebibyte)
  await held.arrive(16 * mebibyte)
  held.complete()
  const left = announce(ownerId, mebibyte)
  const waiting = left.arrive(mebibyte)
  left.release()
  await expect(waiting).rejects.toMatchObject({ kind: 'conflict' })
  held.release()
  const next = announce(ownerId, 16 * mebibyte)
  await next.arrive(16 * mebibyte)
  next.release()
})

test('each key has a limit for response bytes that its clients have not read yet', () => {
  ownerId += 1
  const first = service.live.unread.reserve(ownerId, 5 * mebibyte)
  const second = service.live.unread.reserve(ownerId, 3 * mebibyte)
  expect(() => service.live.unread.reserve(ownerId, mebibyte)).toThrow('still being read')
  service.live.unread.reserve(ownerId + 1_000_000, 8 * mebibyte)()
  first()
  first()
  service.live.unread.reserve(ownerId, 5 * mebibyte)()
  second()
})

test('a stream that is not read ends with an error, and a cancelled stream releases its capacity', async () => {
  const piece = new Uint8Array(65_536)
  const ends: unknown[] = []
  const slow = pacedStream(
    async () => piece,
    (error) => ends.push(String(error)),
    50,
  ).getReader()
  expect((await slow.read()).done).toBe(false)
  await expect.poll(() => ends).toEqual([expect.stringContaining('was not read within')])
  await expect(slow.read()).rejects.toThrow('was not read within')
  const left = pacedStream(
    async () => piece,
    (error) => ends.push(error),
  ).getReader()
  await left.read()
  await left.cancel()
  expect(ends.slice(1)).toEqual([undefined])
  let pieces = 3
  const whole = pacedStream(
    async () => (pieces-- > 0 ? piece : null),
    () => ends.push('whole'),
  )
  expect((await new Response(whole).arrayBuffer()).byteLength).toBe(3 * piece.length)
  expect(ends.at(-1)).toBe('whole')
})

test('a key whose responses are left unread gets 429 for a large read, and the large response of a write', async () => {
  const actor = await service.actor()
  const room_types = Array.from({ length: 4 }, () => ({
    name: 'R',
    rooms: Array.from({ length: 500 }, (_, index) => ({ id: `room-${index}` })),
  }))
  const create = () => actor.send('POST', '/v1/listings', { body: { name: 'L', room_types } })
  expect((await create()).text.length).toBeGreaterThan(65_536)
  const release = service.live.unread.reserve(actor.keyId, 8 * mebibyte)
  expect((await create()).status).toBe(201)
  const refused = await actor.send('GET', '/v1/listings')
  expect({ status: refused.status, type: refused.body.error.type }).toEqual({
    status: 429,
    type: 'rate_limit_error',
  })
  release()
  expect((await actor.send('GET', '/v1/listings')).body.meta.pagination.total).toBe(2)
})

test('a page of listings beyond 1 MiB is complete, and a listing has at most 2,000 rooms', async () => {
  const actor = await service.actor()
  const rooms = Array.from({ length: 400 }, () => ({ name: 'ä'.repeat(255) }))
  const room_types = Array.from({ length: 4 }, () => ({ name: 'R', rooms }))
  for (const name of ['A', 'B']) await actor.send('POST', '/v1/listings', { body: { name, room_types } })
  const { status, text, body } = await actor.send('GET', '/v1/listings?per_page=2')
  expect({ status, isLarge: Buffer.byteLength(text) > mebibyte, listings: body.data.length }).toEqual({
    status: 200,
    isLarge: true,
    listings: 2,
  })
  expect(body.meta.pagination).toMatchObject({ total: 2, from: 1, to: 2 })
  const more = { room_types: [{ name: 'R', rooms }, { rooms: [{}] }] }
  const refused = await actor.send('PATCH', `/v1/listings/${body.data[0].id}`, { body: more })
  expect({ status: refused.status, errors: refused.body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: 'room_types', code: 'max' }],
  })
})

test('a listing is limited to 1 MiB as JSON, including after a merge', async () => {
  const actor = await service.actor()
  const answers = (count: number) =>
    Array.from({ length: count }, () => ({ question: 'q', answer: 'ä'.repeat(9900) }))
  const { body } = await actor.send('POST', '/v1/listings', { body: { name: 'L', faq: answers(40) } })
  const path = `/v1/listings/${body.data.id}`
  const rooms = (count: number) => Array.from({ length: count }, () => ({ name: 'ä'.repeat(255) }))
  const patch = (count: number) =>
    actor.send('PATCH', path, { body: { room_types: [{ name: 'R', rooms: rooms(count) }] } })
  expect((await patch(100)).status).toBe(200)
  const before = (await actor.send('GET', path)).body.data
  const refused = await patch(400)
  expect({ status: refused.status, errors: refused.body.error.errors }).toMatchObject({
    status: 422,
    errors: [{ path: 'body', code: 'max' }],
  })
  expect((await actor.send('GET', path)).body.data).toEqual(before)
})

import { expect, test } from 'vitest'
import { mintKey } from '../../src/access/keys/store.ts'
import { reserveBodyBytes } from '../../src/http/body.ts'
import { pacedStream, reserveUnsent } from '../../src/http/send.ts'
import { testApp } from '../support/app.ts'

const service = await testApp()
const mebibyte = 1024 * 1024
/** An id that belongs to no key or host. */
let ownerId = 9_000_000_000
const never = new AbortController().signal

test('a body of more than 100,000 values gets 422 before it is parsed, and commas in strings do not count', async () => {
  const actor = await service.actor()
  const listing = (x: string) =>
    actor.send('POST', '/v1/listings', { body: `{"name":"L","x":${x},"original_id":"values"}` })
  const { status, body } = await listing(`[${'0,'.repeat(99_999)}0]`)
  expect([status, body.error.errors]).toEqual([
    422,
    [{ path: 'body', code: 'max', message: 'The body must contain at most 100000 values' }],
  ])
  expect((await listing(JSON.stringify('{[,'.repeat(200_000)))).status).toBe(201)
  expect((await listing(`[${'0,'.repeat(99_000)}0]`)).status).toBe(200)
})

test('large bodies of one host are read in turn, and at most four of them wait', async () => {
  ownerId += 1
  const giveBack = await reserveBodyBytes(ownerId, 10 * mebibyte, never)
  let begun = 0
  const waiting = Array.from({ length: 4 }, () =>
    reserveBodyBytes(ownerId, 10 * mebibyte, never).then((next) => {
      begun += 1
      return next
    }),
  )
  await expect(reserveBodyBytes(ownerId, 10 * mebibyte, never)).rejects.toMatchObject({ kind: 'conflict' })
  // Small bodies and bodies of other hosts do not wait.
  ;(await reserveBodyBytes(ownerId, 1000, never))()
  ;(await reserveBodyBytes(ownerId + 1_000_000, 10 * mebibyte, never))()
  expect(begun).toBe(0)
  giveBack()
  giveBack()
  for (const next of waiting) (await next)()
  expect(begun).toBe(4)
})

test('large bodies are counted for the host, however many keys it has', async () => {
  const [actor, other] = [await service.actor(), await service.actor()]
  const { db, clock } = service.live
  const second = { host: actor.hostId, name: 'Second', permissions: ['listings.write' as const] }
  const { key } = await mintKey(db, clock, second)
  const large = { body: { name: 'L', original_id: 'large', description: 'x'.repeat(70_000) } }
  const held = await reserveBodyBytes(actor.hostId, 16 * mebibyte, never)
  const gone = new AbortController()
  const waiting = Array.from({ length: 4 }, () => reserveBodyBytes(actor.hostId, mebibyte, gone.signal))
  const refused = Promise.allSettled(waiting)
  const refusal = await service.send('POST', '/v1/listings', { ...large, key, asIs: true })
  expect(refusal.status).toBe(409)
  expect((await other.send('POST', '/v1/listings', large)).status).toBe(201)
  gone.abort()
  await refused
  held()
  expect((await actor.send('POST', '/v1/listings', large)).status).toBe(201)
})

test('a body stops waiting once its sender has gone', async () => {
  ownerId += 1
  const giveBack = await reserveBodyBytes(ownerId, 16 * mebibyte, never)
  const gone = new AbortController()
  const waiting = reserveBodyBytes(ownerId, mebibyte, gone.signal)
  gone.abort()
  await expect(waiting).rejects.toMatchObject({ kind: 'conflict' })
  giveBack()
  ;(await reserveBodyBytes(ownerId, 16 * mebibyte, never))()
})

test('each key has a limit for response bytes that its clients have not read yet', () => {
  ownerId += 1
  const [first, second] = [reserveUnsent(ownerId, 5 * mebibyte), reserveUnsent(ownerId, 3 * mebibyte)]
  expect(() => reserveUnsent(ownerId, mebibyte)).toThrow('still being read')
  reserveUnsent(ownerId + 1_000_000, 8 * mebibyte)()
  first()
  first()
  reserveUnsent(ownerId, 5 * mebibyte)()
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
  const release = reserveUnsent(actor.keyId, 8 * mebibyte)
  expect((await create()).status).toBe(201)
  const refused = await actor.send('GET', '/v1/listings')
  expect([refused.status, refused.body.error.type]).toEqual([429, 'rate_limit_error'])
  release()
  expect((await actor.send('GET', '/v1/listings')).body.meta.pagination.total).toBe(2)
})

test('a page of listings beyond 1 MiB is complete, and a listing has at most 2,000 rooms', async () => {
  const actor = await service.actor()
  const rooms = Array.from({ length: 400 }, () => ({ name: 'ä'.repeat(255) }))
  const room_types = Array.from({ length: 4 }, () => ({ name: 'R', rooms }))
  for (const name of ['A', 'B']) await actor.send('POST', '/v1/listings', { body: { name, room_types } })
  const { status, text, body } = await actor.send('GET', '/v1/listings?per_page=2')
  expect([status, Buffer.byteLength(text) > mebibyte, body.data.length]).toEqual([200, true, 2])
  expect(body.meta.pagination).toMatchObject({ total: 2, from: 1, to: 2 })
  const more = { room_types: [{ name: 'R', rooms }, { rooms: [{}] }] }
  const refused = await actor.send('PATCH', `/v1/listings/${body.data[0].id}`, { body: more })
  expect([refused.status, refused.body.error.errors]).toMatchObject([
    422,
    [{ path: 'room_types', code: 'max' }],
  ])
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
  expect([refused.status, refused.body.error.errors]).toMatchObject([422, [{ path: 'body', code: 'max' }]])
  expect((await actor.send('GET', path)).body.data).toEqual(before)
})

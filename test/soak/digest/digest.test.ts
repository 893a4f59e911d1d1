import { afterAll, expect, test } from 'vitest'
import {
  type Actor,
  makeActor,
  seedBooking,
  sender,
  type TestResponse,
  testApp,
  testEnvironment,
} from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { digestOf, type HeldByPartner } from '../../support/digest.ts'
import { seededRandom } from '../../support/history.ts'
import { startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const settings = { MONGODB_URL: await ownDatabase() }
const inspected = await testApp(settings)
/** Two processes, each with its own cache. */
const processes = await Promise.all([1, 2].map(() => startService(testEnvironment(settings))))
afterAll(() => Promise.all(processes.map((service) => service.stop())))
const feed = '/v1/integrations/provider_one/bookings'

type Send = ReturnType<typeof sender>

/** An acknowledged change: a booking's version and its state since then. */
type Change = HeldByPartner & { version: string }

const stateAt = (changes: Change[], version: string | null) => {
  const bookings = new Map<number, Change>()
  for (const change of changes.toSorted((one, next) => (one.version < next.version ? -1 : 1)))
    if (version !== null && change.version <= version) bookings.set(change.booking_id, change)
  return [...bookings.values()]
}

/** Creates a host. Returns a function that makes a random change to its bookings, and the acknowledged changes. */
async function startChanging(seed: number) {
  const random = seededRandom(seed)
  const below = (count: number) => Math.floor(random() * count)
  const [send, sendAgain] = processes.map(({ url }) => sender(fetch, url)) as [Send, Send]
  const actor = await makeActor(inspected.live, send)
  const again: Actor = {
    ...actor,
    send: (method, path, sending) => sendAgain(method, path, { key: actor.key, ...sending }),
  }
  const { user_id, listing_id, room_type_id, booking } = await seedBooking(actor)
  const changes: Change[] = []
  const open = new Set<number>()
  const note = (booking: HeldByPartner, updated_at: string) => {
    const { booking_id, status, checkin_at, checkout_at } = booking
    const version = updated_at.slice(0, 19).replace('T', ' ')
    changes.push({ booking_id, version, status, checkin_at, checkout_at })
    if (status === 'cancelled') open.delete(booking_id)
    else open.add(booking_id)
  }
  const noteNew = ({ body: { data } }: TestResponse) => note({ ...data, status: 'pending' }, data.updated_at)
  noteNew(booking)
  const change = async () => {
    const through = random() < 0.5 ? actor : again
    if (open.size < 20 || random() < 0.5) {
      const day = new Date(Date.UTC(2030, 0, 1 + below(400))).toISOString().slice(0, 10)
      const end = new Date(Date.parse(day) + (31 + below(60)) * 86_400_000).toISOString().slice(0, 10)
      const body = { user_id, listing_id, room_type_id, checkin_at: day, checkout_at: end }
      const made = await through.send('POST', '/v1/bookings', { body, repeatWhileBusy: true })
      if (made.status === 201) noteNew(made)
      return
    }
    const id = [...open][below(open.size)]
    const to = random() < 0.5 ? 'confirm' : 'cancel'
    const moved = await through.send('POST', `/v1/bookings/${id}/${to}`, { repeatWhileBusy: true })
    if (moved.status !== 200) return
    const { Booking } = moved.body.data
    note(Booking, Booking.meta.updated_at)
  }
  return { actor, again, changes, change, below }
}

const read = async (actor: Actor, query = '') => {
  const { status, body } = await actor.send('GET', `${feed}/digest?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data.digest
}

test("after thousands of random changes the digest equals the model's, on all levels and in each process", async () => {
  const { actor, again, changes, change, below } = await startChanging(34)
  const rounds = 100 * soakFactor
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(Array.from({ length: 100 }, change))
    const version = changes
      .map((one) => one.version)
      .sort()
      .at(-1) as string
    const held = stateAt(changes, version)
    const { checkin_at } = held[below(held.length)] as Change
    const month = checkin_at.slice(0, 7)
    const inMonth = held.filter((one) => one.checkin_at.startsWith(month))
    const onDay = held.filter((one) => one.checkin_at === checkin_at)
    for (const reader of [actor, again]) {
      expect(await read(reader)).toEqual({ version, ...digestOf(held, 7) })
      expect(await read(reader, `month=${month}`)).toEqual({ version, ...digestOf(inMonth, 10) })
      const day = await read(reader, `day=${checkin_at}`)
      expect(day).toMatchObject({ version, ...digestOf(onDay) })
      expect(day.bookings).toEqual(onDay.toSorted((one, next) => one.booking_id - next.booking_id))
    }
  }
  console.log(`${changes.length} changes, ${rounds} comparisons of three levels in two processes`)
})

test('while sixteen writers are busy, each digest shows exactly the state at its version', async () => {
  const { actor, again, changes, change, below } = await startChanging(23)
  let isOver = false
  const writers = Array.from({ length: 16 }, async () => {
    while (!isOver) await change()
  })
  /** Each query's length of the dates by which its digest groups bookings; undefined for a list of bookings. */
  const groupLengths: Record<string, 7 | 10 | undefined> = {
    '': 7,
    'month=2030-03': 10,
    'day=2030-03-05': undefined,
  }
  const queries = Object.keys(groupLengths)
  const answers: { query: string; digest: Awaited<ReturnType<typeof read>> }[] = []
  for (let count = 0; count < 1000 * soakFactor; count += 1) {
    const query = queries[below(queries.length)] as string
    answers.push({ query, digest: await read(count % 2 === 0 ? actor : again, query) })
  }
  isOver = true
  await Promise.all(writers)
  for (const { query, digest } of answers) {
    const state = stateAt(changes, digest.version)
    const start = query.split('=').at(-1) as string
    const wanted = state.filter(({ checkin_at }) => checkin_at.startsWith(start))
    expect(digest).toMatchObject(digestOf(wanted, groupLengths[query]))
  }
  const states = new Set(answers.map(({ digest }) => digest.version)).size
  console.log(`${answers.length} answers of ${states} states, beside ${changes.length} changes`)
  expect(states).toBeGreaterThan(10 * soakFactor)
})

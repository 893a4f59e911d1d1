import { expect, test } from 'vitest'
import { toVersion } from '../../../src/host-clock/format.ts'
import { findBookingOfAnyHost } from '../../../src/stays/bookings/store.ts'
import { transitionBooking } from '../../../src/stays/bookings/transitions.ts'
import { seedBooking, sender, testApp, testEnvironment } from '../../support/app.ts'
import {
  type Feed,
  httpFeed,
  messagesOf,
  Poller,
  type SeenItem,
  seededRandom,
  truthOf,
} from '../../support/history.ts'
import { partnerctl, type ServiceProcess, startService } from '../../support/processes.ts'
import { soakFactor } from '../../support/soak.ts'

const service = await testApp()
const { db } = service.live

/** @param wait the `wait` of polls in seconds, or null for a history without waits and messages */
async function runHistory(seed: number, changes: number, isKilled: boolean, wait: number | null = null) {
  const random = seededRandom(seed)
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const living = await Promise.all([startService(testEnvironment()), startService(testEnvironment())])
  const [survivor, victim] = living
  const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
  // Any process that is still alive may serve the request.
  const anyUrl = () => (living[Math.floor(random() * living.length)] as ServiceProcess).url
  const feed = httpFeed(anyUrl, actor.key)
  const ids = [booking_id]
  let done = 0
  const visibilities: boolean[] = []

  const create = async () => {
    const target = living[Math.floor(random() * living.length)] as ServiceProcess
    const response = await sender(fetch, target.url)('POST', '/v1/bookings', { key: actor.key, body }).catch(
      () => null,
    )
    if (response?.status !== 201) return
    const { booking_id: id, updated_at } = response.body.data
    ids.push(id)
    if (ids.length % 8 === 0) visibilities.push(await isVisible(id, updated_at))
  }
  /** Returns true if a poll shows a write that was acknowledged before the poll began. */
  const isVisible = async (id: number, updatedAt: string) => {
    const before = toVersion(new Date(Date.parse(updatedAt) - 1000))
    const survivorFeed = httpFeed(() => survivor.url, actor.key)
    let page = 1
    let found = false
    for (let lastPage = 1; page <= lastPage && !found; page += 1) {
      const response = await survivorFeed.page({ updated_after: before, page, per_page: 100 })
      found = response.items.some(({ id: seen }: SeenItem) => seen === id)
      lastPage = response.lastPage
    }
    return found
  }
  const transition = async () => {
    const id = ids[Math.floor(random() * ids.length)] as number
    const to = random() < 0.5 ? 'confirmed' : 'cancelled'
    // Illegal transitions are part of the history.
    await transitionBooking({ db, clock: service.live.clock }, await findBookingOfAnyHost(db, id), {
      to,
    }).catch(() => {})
  }
  const message = async () => {
    const path = `/v1/bookings/${ids[Math.floor(random() * ids.length)]}/messages`
    const body = { message: { text: `Message ${done}` } }
    await sender(fetch, anyUrl())('POST', path, { key: actor.key, body }).catch(() => null)
  }
  const commandLine = async () => {
    const environment = { MONGODB_URL: testEnvironment().MONGODB_URL as string }
    while (done < changes) {
      await partnerctl(['bookings', 'confirm', String(ids[Math.floor(random() * ids.length)])], environment)
      await Bun.sleep(300)
    }
  }
  const writer = async () => {
    while (done < changes) {
      done += 1
      if (wait !== null && random() < 0.4) await message()
      else await (random() < 0.6 ? create() : transition())
    }
  }
  const pollersOf = (name: string, from: Feed, sizes: number[]) =>
    sizes.flatMap((perPage) => [
      new Poller(`${name} by pages of ${perPage}`, from, { perPage, byCursor: false, wait }),
      new Poller(`${name} by cursor of ${perPage}`, from, { perPage, byCursor: true, wait }),
    ])
  const ofMessages = httpFeed(anyUrl, actor.key, 'messages')
  const readers = {
    bookings: pollersOf('bookings', feed, wait === null ? [1, 3, 7, 50] : [3, 50]),
    messages: wait === null ? [] : pollersOf('messages', ofMessages, [3, 50]),
  }
  const pollers = [...readers.bookings, ...readers.messages]
  let isOver = false
  const polling = Promise.all(
    pollers.map(async (poller) => {
      while (!isOver) {
        await poller.poll()
        await Bun.sleep(random() * 60)
      }
    }),
  )
  const killing = async () => {
    while (done < changes / 2) await Bun.sleep(5)
    living.splice(living.indexOf(victim), 1)
    await victim.end('SIGKILL')
  }
  await Promise.all([...Array.from({ length: 6 }, writer), commandLine(), ...(isKilled ? [killing()] : [])])
  isOver = true
  await polling
  // Within five seconds, the database aborts the killed process's open transactions.
  if (isKilled) await Bun.sleep(5000)
  const leftovers = await Promise.all(
    pollers.map(async (poller) => {
      await poller.poll()
      return [poller.name, await poller.poll()]
    }),
  )
  expect(leftovers).toEqual(pollers.map(({ name }) => [name, 0]))
  expect(visibilities.length).toBeGreaterThan(0)
  expect(new Set(visibilities)).toEqual(new Set([true]))
  const truths = {
    bookings: await truthOf(db, actor.hostId),
    messages: await messagesOf(db, actor.hostId),
  }
  await Promise.all(living.map((process) => process.stop()))
  for (const kind of ['bookings', 'messages'] as const) {
    const versions = [...truths[kind].values()].map(({ version }) => version)
    expect(new Set(versions).size).toBe(versions.length)
    for (const poller of readers[kind]) {
      const { name, complaints } = poller
      expect({ name, complaints, losses: poller.losses(truths[kind]) }).toEqual({
        name,
        complaints: [],
        losses: [],
      })
    }
  }
}

test('pollers by page and by cursor lose nothing while two processes and the command line write', () =>
  runHistory(20261121, 160 * soakFactor, false))
test('waiting pollers of both feeds, by page and by cursor, lose nothing if one of two writing processes is killed', () =>
  runHistory(7, 200 * soakFactor, true, 2))

function byVersion(one: SeenItem, other: SeenItem): number {
  if (one.version === other.version) return one.id - other.id
  return one.version < other.version ? -1 : 1
}

/**
 * An in-memory feed. To prove that the checker works, it must find losses in the naive variants. As with commits, a
 * change to a naive feed may become visible some time after its version was chosen.
 */
class NaiveFeed implements Feed {
  private rows = new Map<number, SeenItem>()
  private order = 0
  private readonly start = Date.UTC(2030, 0, 1)

  constructor(
    private readonly fault: 'wall clock' | 'offset pages' | 'none',
    private readonly random: () => number,
  ) {}

  async change(id: number, state: string): Promise<void> {
    const isNaive = this.fault === 'wall clock'
    this.order += 1
    // A wall clock that counts whole seconds gives several changes the same version.
    const version = toVersion(
      new Date(this.start + (isNaive ? Math.floor(this.order / 5) : this.order) * 1000),
    )
    if (isNaive) await Bun.sleep(this.random() * 4)
    this.rows.set(id, { id, state, version })
  }

  private readonly ends = new Map<string, string>()

  async page({ updated_after, page = 1, per_page, cursor }: Parameters<Feed['page']>[0]) {
    await Bun.sleep(0)
    const all = [...this.rows.values()].sort(byVersion)
    const matching = all.filter(({ version }) => updated_after === undefined || version > updated_after)
    const reader = `${updated_after} ${per_page}`
    const end = cursor ?? this.ends.get(`${reader} ${page - 1}`)
    const byOffset = this.fault === 'offset pages' || page === 1
    const rest =
      byOffset && cursor === undefined
        ? matching.slice((page - 1) * per_page)
        : matching.filter(({ version }) => end === undefined || version > end)
    const items = rest.slice(0, per_page)
    const last = items.at(-1)
    if (last) this.ends.set(`${reader} ${page}`, last.version)
    return {
      items,
      total: matching.length,
      lastPage: rest.length > per_page ? page + 1 : page,
      nextCursor: rest.length > per_page && last ? last.version : null,
    }
  }

  get truth() {
    return this.rows
  }
}

async function lossesOf(fault: ConstructorParameters<typeof NaiveFeed>[0], seed: number): Promise<number> {
  const random = seededRandom(seed)
  const feed = new NaiveFeed(fault, random)
  const pollers = [2, 3, 7].map((perPage) => new Poller(`${perPage}`, feed, { perPage, byCursor: false }))
  let done = 0
  const writer = async () => {
    while (done < 600) {
      done += 1
      await feed.change(Math.floor(random() * 60), String(done))
      await Bun.sleep(random() * 2)
    }
  }
  const polling = pollers.map(async (poller) => {
    while (done < 600) await poller.poll()
  })
  await Promise.all([writer(), writer(), writer(), ...polling])
  for (const poller of pollers) await poller.poll()
  return pollers.reduce((sum, poller) => sum + poller.losses(feed.truth).length, 0)
}

test('the loss checker finds losses with wall-clock versions and with offset pages, but not in a correct feed', async () => {
  const seeds = [1, 2, 3]
  const sum = async (fault: Parameters<typeof lossesOf>[0]) =>
    (await Promise.all(seeds.map((seed) => lossesOf(fault, seed)))).reduce((a, b) => a + b)
  const tally = {
    'wall clock': await sum('wall clock'),
    'offset pages': await sum('offset pages'),
    none: await sum('none'),
  }
  expect(tally['wall clock']).toBeGreaterThan(0)
  expect(tally['offset pages']).toBeGreaterThan(0)
  expect(tally.none).toBe(0)
})

import { expect, test } from 'vitest'
import { findBookingOfAnyHost } from '../../src/bookings/store.ts'
import { transitionBooking } from '../../src/bookings/transitions.ts'
import { toVersion } from '../../src/bookings/version.ts'
import { seedBooking, sender, testApp, testEnvironment } from '../support/app.ts'
import { type Feed, httpFeed, Poller, type SeenItem, seededRandom, truthOf } from '../support/history.ts'
import { partnerctl, type ServiceProcess, startService } from '../support/processes.ts'

const service = await testApp()
const { db } = service.live

async function runHistory(seed: number, changes: number, isKilled: boolean) {
  const random = seededRandom(seed)
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id, booking_id } = await seedBooking(actor)
  const living = await Promise.all([startService(testEnvironment()), startService(testEnvironment())])
  const [survivor, victim] = [...living] as [ServiceProcess, ServiceProcess]
  const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
  // To a process that still lives.
  const feed = httpFeed(() => (living[Math.floor(random() * living.length)] as ServiceProcess).url, actor.key)
  const movable = [booking_id]
  let done = 0
  let seenAtOnce = 0

  const create = async () => {
    const target = living[Math.floor(random() * living.length)] as ServiceProcess
    const answer = await sender(fetch, target.url)('POST', '/v1/bookings', { key: actor.key, body }).catch(
      () => null,
    )
    if (answer?.status !== 201) return
    movable.push(answer.body.data.booking_id)
    if (random() < 0.1) await expectVisible(answer.body.data.booking_id, answer.body.data.updated_at)
  }
  /** A poll that starts after a write was acknowledged must show it. */
  const expectVisible = async (id: number, updatedAt: string) => {
    const before = toVersion(new Date(Date.parse(updatedAt) - 1000))
    const survivorFeed = httpFeed(() => survivor.url, actor.key)
    let [page, found] = [1, false]
    for (let lastPage = 1; page <= lastPage && !found; page += 1) {
      const answer = await survivorFeed.page({ updated_after: before, page, per_page: 100 })
      found = answer.items.some(({ booking_id: seen }: SeenItem) => seen === id)
      lastPage = answer.lastPage
    }
    expect([id, found]).toEqual([id, true])
    seenAtOnce += 1
  }
  const move = async () => {
    const id = movable[Math.floor(random() * movable.length)] as number
    const to = random() < 0.5 ? 'confirmed' : 'cancelled'
    // Illegal moves are part of the play.
    await transitionBooking({ db, clock: service.live.clock }, () => findBookingOfAnyHost(db, id), to).catch(
      () => {},
    )
  }
  const commandLine = async () => {
    const environment = { MONGODB_URL: testEnvironment().MONGODB_URL as string }
    while (done < changes)
      await partnerctl(
        ['bookings', 'confirm', String(movable[Math.floor(random() * movable.length)])],
        environment,
      )
  }
  const writer = async () => {
    while (done < changes) {
      done += 1
      await (random() < 0.6 ? create() : move())
    }
  }
  const pollers = [1, 3, 7, 50].flatMap((perPage) => [
    new Poller(`pages of ${perPage}`, feed, perPage, false),
    new Poller(`cursor of ${perPage}`, feed, perPage, true),
  ])
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
  // What the killed process left open has ended by then.
  if (isKilled) await Bun.sleep(5000)
  for (const poller of pollers) {
    await poller.poll()
    expect([poller.name, await poller.poll()]).toEqual([poller.name, 0])
  }
  const truth = await truthOf(db, actor.hostId)
  await Promise.all(living.map((process) => process.stop()))
  const versions = [...truth.values()].map(({ version }) => version)
  expect(new Set(versions).size).toBe(versions.length)
  for (const poller of pollers)
    expect([poller.name, poller.losses(truth), poller.complaints]).toEqual([poller.name, [], []])
  const polls = pollers.reduce((sum, poller) => sum + poller.polls, 0)
  console.log(
    `Seed ${seed}${isKilled ? ', one process killed' : ''}: ${done} changes tried, ${truth.size} bookings, ${polls} polls of ${pollers.length} pollers, ${seenAtOnce} writes checked to be visible at once, 0 losses`,
  )
}

test(
  'pollers by page and by cursor lose nothing while two processes and the command line write',
  { timeout: 180_000 },
  () => runHistory(20261121, 1500, false),
)
test('nor when one of the processes is killed in the middle', { timeout: 180_000 }, () =>
  runHistory(7, 1000, true),
)

/**
 * Feeds in memory that are built naively. The checker must find losses in them, or it would prove nothing.
 * Changes take a moment between the choice of their version and their becoming visible, as commits do.
 */
class NaiveFeed implements Feed {
  private rows = new Map<number, SeenItem>()
  private order = 0
  private readonly start = Date.UTC(2030, 0, 1)

  constructor(
    private readonly fault: 'wall clock' | 'offset pages' | 'none',
    private readonly random: () => number,
  ) {}

  async change(id: number, status: string): Promise<void> {
    const isNaive = this.fault === 'wall clock'
    this.order += 1
    // A wall clock of whole seconds gives several changes one version.
    const version = toVersion(
      new Date(this.start + (isNaive ? Math.floor(this.order / 5) : this.order) * 1000),
    )
    if (isNaive) await Bun.sleep(this.random() * 4)
    this.rows.set(id, { booking_id: id, status, version })
  }

  private readonly ends = new Map<string, string>()

  async page({ updated_after, page = 1, per_page, cursor }: Parameters<Feed['page']>[0]) {
    await Bun.sleep(0)
    const all = [...this.rows.values()].sort((a, b) =>
      a.version === b.version ? a.booking_id - b.booking_id : a.version < b.version ? -1 : 1,
    )
    const matching = all.filter(({ version }) => updated_after === undefined || version > updated_after)
    const walk = `${updated_after} ${per_page}`
    const end = cursor ?? this.ends.get(`${walk} ${page - 1}`)
    const byOffset = this.fault === 'offset pages' || page === 1
    const rest =
      byOffset && cursor === undefined
        ? matching.slice((page - 1) * per_page)
        : matching.filter(({ version }) => end === undefined || version > end)
    const items = rest.slice(0, per_page)
    const last = items.at(-1)
    if (last) this.ends.set(`${walk} ${page}`, last.version)
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
  const pollers = [2, 3, 7].map((perPage) => new Poller(`${perPage}`, feed, perPage, false))
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

test('the checker finds the losses of versions from the wall clock and of pages by offset, and none without a fault', async () => {
  const seeds = [1, 2, 3]
  const sum = async (fault: Parameters<typeof lossesOf>[0]) =>
    (await Promise.all(seeds.map((seed) => lossesOf(fault, seed)))).reduce((a, b) => a + b)
  const tally = {
    'wall clock': await sum('wall clock'),
    'offset pages': await sum('offset pages'),
    none: await sum('none'),
  }
  console.log(`Losses found in naive feeds: ${JSON.stringify(tally)}`)
  expect(tally['wall clock']).toBeGreaterThan(0)
  expect(tally['offset pages']).toBeGreaterThan(0)
  expect(tally.none).toBe(0)
})

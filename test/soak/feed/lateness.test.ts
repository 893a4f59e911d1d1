import { expect, test } from 'vitest'
import { toVersion } from '../../../src/host-clock/format.ts'
import { seedBooking, testApp, testEnvironment } from '../../support/app.ts'
import { type Feed, httpFeed, type Question, type SeenItem } from '../../support/history.ts'
import { startService } from '../../support/processes.ts'
import { controlOf, soakFactor } from '../../support/soak.ts'

const waitSeconds = 2

/**
 * Makes changes while a reader waits, each after the reader has seen the previous one. Returns the number of changes
 * that the reader saw late.
 *
 * @param options.lateMilliseconds the delay above which a change is late, far below the wait and far above a normal delay
 */
async function countLate(
  feed: Feed,
  change: (index: number) => Promise<unknown>,
  { changes, start, lateMilliseconds }: { changes: number; start: string; lateMilliseconds: number },
): Promise<number> {
  let late = 0
  let last = start
  for (let index = 0; index < changes; index += 1) {
    const reading = feed.page({ updated_after: last, per_page: 50, wait: waitSeconds })
    await Bun.sleep(30)
    const changedAt = performance.now()
    await change(index)
    let { items } = await reading
    while (items.length === 0)
      ({ items } = await feed.page({ updated_after: last, per_page: 50, wait: waitSeconds }))
    if (performance.now() - changedAt > lateMilliseconds) late += 1
    last = items.at(-1)?.version as string
  }
  return late
}

test('a waiting reader sees every change of another process immediately', async () => {
  const service = await testApp()
  const [writing, reading] = await Promise.all([
    startService(testEnvironment()),
    startService(testEnvironment()),
  ])
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const send = (index: number) =>
    fetch(`${writing.url}/v1/bookings/${booking_id}/messages`, {
      method: 'POST',
      headers: { 'x-api-key': actor.key },
      body: JSON.stringify({ message: { text: `Message ${index}` } }),
    })
  const feed = httpFeed(() => reading.url, actor.key, 'messages')
  const control = await controlOf(() => feed.page({ per_page: 50 }))
  const { items } = await feed.page({ per_page: 50 })
  const late = await countLate(feed, send, {
    changes: 60 * soakFactor,
    start: items.at(-1)?.version as string,
    lateMilliseconds: 300 + 20 * control,
  })
  expect(late).toBe(0)
  await Promise.all([writing.stop(), reading.stop()])
})

/** An in-memory feed that waits. If naive, it wakes readers when a change begins, not when it becomes visible. */
class WaitingFeed implements Feed {
  private readonly rows: SeenItem[] = []
  private wake = Promise.withResolvers<void>()

  constructor(private readonly wakesEarly: boolean) {}

  async change(index: number): Promise<void> {
    if (this.wakesEarly) this.wakeAll()
    await Bun.sleep(5)
    const version = toVersion(new Date(Date.UTC(2030, 0, 1) + index * 1000))
    this.rows.push({ id: index, state: '', version })
    if (!this.wakesEarly) this.wakeAll()
  }

  private wakeAll(): void {
    this.wake.resolve()
    this.wake = Promise.withResolvers<void>()
  }

  async page({ updated_after = '', per_page, wait = 0 }: Question) {
    const read = () => this.rows.filter(({ version }) => version > updated_after).slice(0, per_page)
    const over = Bun.sleep(wait * 1000)
    let isOver = false
    over.then(() => {
      isOver = true
    })
    while (read().length === 0 && !isOver) await Promise.race([this.wake.promise, over])
    const items = read()
    return { items, lastPage: 1, total: items.length, nextCursor: null }
  }
}

test('the lateness checker catches only a feed that wakes its readers before the change is visible', async () => {
  const lateOf = (feed: WaitingFeed) =>
    countLate(feed, (index) => feed.change(index), {
      changes: 3,
      start: '2029-12-31 00:00:00',
      lateMilliseconds: 1000,
    })
  expect(await Promise.all([lateOf(new WaitingFeed(true)), lateOf(new WaitingFeed(false))])).toEqual([3, 0])
})

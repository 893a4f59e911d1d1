import type { StoredBooking } from './habits.ts'
import { type Answer, Failed, type Site } from './site.ts'

const emptyPage = {
  data: { Bookings: [] },
  meta: { pagination: { last_page: 1, next_cursor: null } },
}

function versionOf(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}

/** Reads the feed; its stored data survives crashes. */
export class Reader {
  /** The bookings on the product's disk. */
  readonly stored = new Map<number, StoredBooking>()
  private position: string | undefined
  private hasSynced = false
  private hint = Promise.withResolvers<void>()

  constructor(private readonly site: Site) {}

  /** Ends the current pause after a hint has arrived. */
  wake(): void {
    this.hint.resolve()
  }

  /** Resumes from the stored state, or as a wrong product would. */
  recall(): void {
    if (this.site.is('forgets-its-position')) this.position = undefined
    if (this.site.is('forgets-what-it-missed') && this.hasSynced) this.position = versionOf(new Date())
  }

  /** Returns the milliseconds to wait before the next poll. */
  private untilNextPoll(): number {
    const { pause = 700, reads } = this.site.habits
    if (reads === 'wait') return 0
    if (this.site.is('polls-too-often') && this.hasSynced) return 60
    return pause
  }

  /** Polls until `signal` is aborted or the key is refused. Waits longer after each failure. */
  async loop(signal: AbortSignal): Promise<void> {
    const { pause = 700 } = this.site.habits
    let failures = 0
    while (!signal.aborted) {
      try {
        await this.sync()
        failures = 0
        const rest = this.untilNextPoll()
        const woken = this.site.habits.hinted && !this.site.is('hints-unread') ? [this.hint.promise] : []
        if (rest > 0) await this.site.rest(rest, ...woken)
        if (this.site.is('only-hints') && this.hasSynced) await this.site.rest(null, this.hint.promise)
        this.hint = Promise.withResolvers<void>()
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        const { status, retryAfter } = error instanceof Failed ? error : { status: 0, retryAfter: 0 }
        if (status === 401 && !this.site.is('ignores-401')) return this.site.run.abort()
        if (this.site.is('ignores-retry-after') && status === 429) await Bun.sleep(150)
        else if (this.site.is('hammers-errors') && status >= 500) await Bun.sleep(110)
        else if (retryAfter > 0) await this.site.rest(retryAfter * 1000)
        else if (status === 401) await Bun.sleep(pause)
        else await this.site.rest(Math.min(3000, 200 * 2 ** failures))
      }
    }
  }

  private async sync(): Promise<void> {
    const { reads = 'page' } = this.site.habits
    if (this.site.is('reads-everything')) this.position = undefined
    const began = versionOf(new Date())
    if (this.site.is('moves-before-reading') && this.hasSynced) {
      const from = this.position
      this.position = began
      await this.readFrom(from, () => {})
    } else if (reads === 'consumer') await this.consume()
    else
      await this.readFrom(this.position, (version) => {
        this.position = version
      })
    // The product mistakes its office's local time for UTC.
    if (this.site.is('local-time')) this.position = versionOf(new Date(Date.now() + 3_600_000))
    this.hasSynced = true
  }

  private async readFrom(after: string | undefined, move: (version: string) => void): Promise<void> {
    const { reads = 'page', perPage = 50 } = this.site.habits
    const query = new URLSearchParams({
      per_page: String(perPage),
      ...(after ? { updated_after: after } : {}),
    })
    if (reads === 'wait') query.set('wait', '30')
    let last: string | undefined
    for (let page = 1; ; page += 1) {
      if (reads === 'page' && page > 1) query.set('page', String(page))
      const { body, status } = await this.readPage(query)
      if (status >= 400) throw new Failed(status, 0)
      for (const item of body.data.Bookings) {
        this.store(item)
        last = item.version
      }
      const { last_page, next_cursor } = body.meta.pagination
      if (reads !== 'page' && last) move(last)
      if (reads === 'page' ? page >= last_page : next_cursor === null) break
      if (this.site.is('reads-first-and-last-page')) page = Math.max(page, last_page - 1)
      if (reads !== 'page') query.set('cursor', next_cursor)
    }
    if (last) move(last)
  }

  private async readPage(query: URLSearchParams): Promise<Answer> {
    try {
      return await this.site.send('GET', `/integrations/provider_one/bookings?${query}`)
    } catch (error) {
      // Half a body is not JSON. A product that mistakes it for an empty page skips the page's changes.
      if (!this.site.is('takes-half-a-body') || error instanceof Failed || this.site.run.signal.aborted)
        throw error
      this.position = versionOf(new Date())
      return { status: 200, headers: new Headers(), body: emptyPage }
    }
  }

  private async consume(): Promise<void> {
    const path = '/integrations/provider_one/bookings'
    const { body, status } = await this.site.send('GET', `${path}?consumer=sync&per_page=50`)
    if (status === 404) {
      await this.site.send('PUT', `${path}/consumers/sync`, { acknowledged: null })
      return this.consume()
    }
    const items = body.data.Bookings
    for (const item of items) this.store(item)
    if (items.length === 0) return
    await this.site.send('PUT', `${path}/consumers/sync`, { acknowledged: items.at(-1).version })
    return this.consume()
  }

  private store({ booking_id, status, checkin_at, checkout_at }: StoredBooking & { version: string }): void {
    const known = this.stored.get(booking_id)
    if (this.site.is('fails-at-unknown-cancellations') && !known && status === 'cancelled' && this.hasSynced)
      throw new Error(`There is no booking ${booking_id} to cancel`)
    if (this.site.is('keeps-cancelled-confirmed') && known && status === 'cancelled') return
    if (this.site.is('keeps-first-status') && known) status = known.status
    this.stored.set(booking_id, { booking_id, status, checkin_at, checkout_at })
  }
}

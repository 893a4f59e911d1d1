import { appendFileSync } from 'node:fs'

/** A booking as a product stores it. */
export interface Held {
  booking_id: number
  status: string
  checkin_at: string
  checkout_at: string
}

/** How a product does its work; each flag that is on is one fault that a real integration has. */
export interface Habits {
  reads?: 'page' | 'cursor' | 'wait' | 'consumer'
  /** Milliseconds between two polls. */
  pause?: number
  perPage?: number
  /** It takes hints, and polls beside them. */
  hinted?: boolean
  wrong?: Wrong
}

export type Wrong =
  | 'reads-first-and-last-page'
  | 'local-time'
  | 'fails-at-unknown-cancellations'
  | 'ignores-retry-after'
  | 'hammers-errors'
  | 'moves-before-reading'
  | 'takes-half-a-body'
  | 'ignores-401'
  | 'forgets-its-position'
  | 'forgets-what-it-missed'
  | 'polls-too-often'
  | 'reads-everything'
  | 'keeps-cancelled-confirmed'
  | 'keeps-first-status'
  | 'pushes-half-a-year'
  | 'pushes-night-by-night'
  | 'pushes-everything-again'
  | 'pushes-through-429'
  | 'repeats-422'
  | 'overwrites-units'
  | 'no-key'
  | 'new-key-each-try'
  | 'repeats-refused-booking'
  | 'gives-up-when-unavailable'
  | 'slow-endpoint'
  | 'hints-unread'
  | 'takes-forged'
  | 'takes-old'
  | 'refuses-doubled'
  | 'only-hints'

/** What `next` asks for, as far as a product needs it. */
export interface Asked {
  action: string
  booking_id: number | null
  listing_id: number | null
  room_type_id: number | null
  room_types: { listing_id: number; room_type_id: number }[] | null
  checkin_at: string | null
  checkout_at: string | null
  start_date: string | null
  end_date: string | null
  available: number | null
}

const day = 86_400_000
const addDays = (date: string, days: number) =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * day).toISOString().slice(0, 10)

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: an integration knows the shapes by the documentation
  body: any
  headers: Headers
}

/** What happened instead of a response that can be used. */
class Failed extends Error {
  constructor(
    readonly status: number,
    readonly retryAfter: number,
  ) {
    super(`Status ${status}`)
  }
}

/** A reference integration: everything by hand, as partners write it. What it stores outlives its crashes. */
export class Product {
  /** On its disk. */
  readonly stored = new Map<number, Held>()
  private position: string | undefined
  private hasSynced = false
  private hasForgotten = false
  /** What it has pushed so far. */
  private year: object[] = []
  private readonly asked: object[] = []
  private keys = 0
  private run = new AbortController()
  private wake = Promise.withResolvers<void>()
  private work: Promise<void> | undefined
  private receiver: ReturnType<typeof Bun.serve> | undefined
  private seenHints = new Set<string>()

  constructor(
    private readonly base: string | (() => string),
    private readonly key: string,
    private readonly habits: Habits,
    private readonly log?: string,
  ) {
    this.run.abort()
  }

  private is(wrong: Wrong): boolean {
    return this.habits.wrong === wrong
  }

  start(): void {
    if (!this.run.signal.aborted) return
    this.run = new AbortController()
    if (this.is('forgets-its-position')) this.position = undefined
    if (this.is('forgets-what-it-missed') && this.hasSynced) this.position = versionOf(new Date())
    this.work = this.loop(this.run.signal).catch((error) => this.note(`ended: ${error}`))
  }

  /** As SIGKILL: whatever is on its way is nobody's any more. */
  kill(): void {
    this.run.abort()
  }

  async close(): Promise<void> {
    this.kill()
    await this.receiver?.stop(true)
    await this.work
  }

  private note(text: string): void {
    if (this.log) appendFileSync(this.log, `${new Date().toISOString()} ${text}\n`)
  }

  private async send(method: string, path: string, body?: object, more: RequestInit = {}): Promise<Answer> {
    const base = typeof this.base === 'string' ? this.base : this.base()
    const headers = { 'x-api-key': this.key, ...(more.headers as object) }
    const init = { method, ...more, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    const response = await fetch(`${base}/sandbox${path}`, { signal: this.run.signal, ...init })
    const text = await response.text()
    this.note(`${method} ${path} ${response.status}`)
    const retryAfter = Number(response.headers.get('retry-after') ?? 0)
    if (response.status === 429 || response.status >= 500 || response.status === 401)
      throw new Failed(response.status, retryAfter)
    return { status: response.status, body: JSON.parse(text), headers: response.headers }
  }

  /** Polls for ever: waits after failures, longer each time, and stops where its key is wrong. */
  private async loop(signal: AbortSignal): Promise<void> {
    const { pause = 700, reads = 'page' } = this.habits
    let failures = 0
    while (!signal.aborted) {
      try {
        await this.sync()
        failures = 0
        const rest = reads === 'wait' ? 0 : this.is('polls-too-often') && this.hasSynced ? 60 : pause
        const woken = this.habits.hinted && !this.is('hints-unread') ? [this.wake.promise] : []
        if (rest > 0) await Promise.race([Bun.sleep(rest), aborted(signal), ...woken])
        if (this.is('only-hints') && this.hasSynced) await Promise.race([this.wake.promise, aborted(signal)])
        this.wake = Promise.withResolvers<void>()
      } catch (error) {
        if (signal.aborted) return
        failures += 1
        const { status, retryAfter } = error instanceof Failed ? error : { status: 0, retryAfter: 0 }
        this.note(`failed: ${status} ${error}`)
        if (status === 401 && !this.is('ignores-401')) return this.kill()
        if (this.is('ignores-retry-after') && status === 429) await Bun.sleep(150)
        else if (this.is('hammers-errors') && status >= 500) await Bun.sleep(110)
        else if (retryAfter > 0) await Promise.race([Bun.sleep(retryAfter * 1000), aborted(signal)])
        else if (status === 401) await Bun.sleep(pause)
        else await Promise.race([Bun.sleep(Math.min(3000, 200 * 2 ** failures)), aborted(signal)])
      }
    }
  }

  private async sync(): Promise<void> {
    const { reads = 'page' } = this.habits
    if (this.is('reads-everything')) this.position = undefined
    const began = versionOf(new Date())
    if (this.is('moves-before-reading') && this.hasSynced) {
      const from = this.position
      this.position = began
      await this.readFrom(from, () => {})
    } else if (reads === 'consumer') await this.consume()
    else
      await this.readFrom(this.position, (version) => {
        this.position = version
      })
    // In the time zone of the office.
    if (this.is('local-time')) this.position = versionOf(new Date(Date.now() + 3_600_000))
    this.hasSynced = true
  }

  private async readFrom(after: string | undefined, move: (version: string) => void): Promise<void> {
    const { reads = 'page', perPage = 50 } = this.habits
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
      if (this.is('reads-first-and-last-page')) page = Math.max(page, last_page - 1)
      if (reads !== 'page') query.set('cursor', next_cursor)
    }
    if (last) move(last)
  }

  private async readPage(query: URLSearchParams): Promise<Answer> {
    try {
      return await this.send('GET', `/integrations/provider_one/bookings?${query}`)
    } catch (error) {
      // Half a body is no JSON: whoever takes that for an empty page goes on without it.
      if (!this.is('takes-half-a-body') || error instanceof Failed || this.run.signal.aborted) throw error
      this.position = versionOf(new Date())
      return { status: 200, headers: new Headers(), body: emptyPage }
    }
  }

  private async consume(): Promise<void> {
    const path = '/integrations/provider_one/bookings'
    const { body, status } = await this.send('GET', `${path}?consumer=sync&per_page=50`)
    if (status === 404) {
      await this.send('PUT', `${path}/consumers/sync`, { acknowledged: null })
      return this.consume()
    }
    const items = body.data.Bookings
    for (const item of items) this.store(item)
    if (items.length === 0) return
    await this.send('PUT', `${path}/consumers/sync`, { acknowledged: items.at(-1).version })
    return this.consume()
  }

  private store({ booking_id, status, checkin_at, checkout_at }: Held & { version: string }): void {
    const known = this.stored.get(booking_id)
    if (this.is('fails-at-unknown-cancellations') && !known && status === 'cancelled' && this.hasSynced)
      throw new Error(`There is no booking ${booking_id} to cancel`)
    if (this.is('keeps-cancelled-confirmed') && known && status === 'cancelled') return
    if (this.is('keeps-first-status') && known) status = known.status
    this.stored.set(booking_id, { booking_id, status, checkin_at, checkout_at })
  }

  /** Does what a person would do in the product. */
  async act(asked: Asked): Promise<void> {
    if (asked.action === 'push_all') await this.pushAll(asked)
    if (asked.action === 'push_change') await this.pushChange(asked)
    if (asked.action === 'book') await this.book(asked)
    if (asked.action === 'cancel')
      await this.patiently(() => this.send('POST', `/bookings/${asked.booking_id}/cancel`, {}, whole))
  }

  private async pushAll({ room_types, start_date, end_date }: Asked): Promise<void> {
    const last = this.is('pushes-half-a-year') ? addDays(start_date as string, 180) : (end_date as string)
    const middle = addDays(start_date as string, 100)
    const data = (room_types ?? []).flatMap((place) => {
      if (this.is('pushes-night-by-night')) return nightsOf(place, start_date as string, last)
      return [
        { ...place, available: 2, start_date, end_date: addDays(middle, -1) },
        { ...place, available: 1, start_date: middle, end_date: last },
      ]
    })
    this.year = data
    for (let start = 0; start < data.length; start += 500) await this.push(data.slice(start, start + 500))
  }

  private async pushChange({
    listing_id,
    room_type_id,
    start_date,
    end_date,
    available,
  }: Asked): Promise<void> {
    const item = { listing_id, room_type_id, start_date, end_date, available }
    // A second worker that still has the figures of before.
    const [before] = this.asked
    if (this.is('overwrites-units') && before) await this.push([{ ...before, available: 11 }])
    // What was refused is not asked for again.
    if ((available ?? 0) < 1000) this.asked.push(item)
    if (this.is('pushes-everything-again') && (available ?? 0) < 1000)
      return this.push([...this.year, ...this.asked])
    await this.push([item])
  }

  private async push(data: object[]): Promise<void> {
    const path = '/integrations/provider_one/availability'
    for (let tries = 0; tries < 40; tries += 1)
      try {
        const { status } = await this.send('POST', path, { data }, whole)
        if (status === 422 && this.is('repeats-422') && tries < 3) await Bun.sleep(300)
        else return
      } catch (error) {
        const through = this.is('pushes-through-429') && error instanceof Failed
        await Bun.sleep(
          through ? 150 : error instanceof Failed && error.retryAfter > 0 ? error.retryAfter * 1000 : 300,
        )
      }
  }

  private async book({ listing_id, room_type_id, checkin_at, checkout_at }: Asked): Promise<void> {
    if (this.is('gives-up-when-unavailable') && this.hasForgotten) return
    const body = { user_id: 1001, listing_id, room_type_id, checkin_at, checkout_at }
    this.keys += 1
    let key = `${this.key.slice(-6)}-${this.keys}`
    await this.patiently(async () => {
      if (this.is('new-key-each-try')) key = crypto.randomUUID()
      const headers = this.is('no-key') ? undefined : { 'idempotency-key': key }
      const sent = await this.send('POST', '/bookings', body, { ...whole, ...(headers ? { headers } : {}) })
      if (sent.status === 422 && this.is('repeats-refused-booking'))
        for (let again = 0; again < 3; again += 1) {
          await Bun.sleep(300)
          await this.send('POST', '/bookings', body, { ...whole, ...(headers ? { headers } : {}) })
        }
      this.hasForgotten = sent.status === 422
      return sent
    })
  }

  /** Again after each failure that may pass. */
  private async patiently(work: () => Promise<Answer>): Promise<void> {
    for (let tries = 0; tries < 30; tries += 1)
      try {
        await work()
        return
      } catch (error) {
        await Bun.sleep(error instanceof Failed && error.retryAfter > 0 ? error.retryAfter * 1000 : 400)
      }
  }

  /** Registers an endpoint that checks what it takes. */
  async register(
    verify: (headers: Headers, body: string, secret: string) => Promise<unknown>,
  ): Promise<void> {
    let secret = ''
    this.receiver = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const body = await request.text()
        const isWell = await verify(request.headers, body, secret).then(
          () => true,
          (error) => {
            const isOld = /too far from now/.test(String(error))
            return this.is(isOld ? 'takes-old' : 'takes-forged')
          },
        )
        if (!isWell) return new Response(null, { status: 400 })
        const id = request.headers.get('webhook-id') ?? ''
        if (this.is('refuses-doubled') && this.seenHints.has(id)) return new Response(null, { status: 409 })
        this.seenHints.add(id)
        if (this.is('slow-endpoint')) await Bun.sleep(1500)
        this.wake.resolve()
        return new Response()
      },
    })
    const { body } = await this.send('POST', '/webhooks', {
      url: `http://127.0.0.1:${this.receiver.port}/hook`,
      events: ['booking.changed'],
    })
    secret = body.data.secret
  }
}

/** Not ended by a crash of the loop. */
const whole: RequestInit = { signal: null }

const emptyPage = {
  data: { Bookings: [] },
  meta: { pagination: { last_page: 1, next_cursor: null } },
}

function versionOf(date: Date): string {
  return date.toISOString().slice(0, 19).replace('T', ' ')
}

function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve())
  return promise
}

function nightsOf(place: object, first: string, last: string): object[] {
  const nights: object[] = []
  for (let date = first; date <= last; date = addDays(date, 1))
    nights.push({ ...place, available: 2, start_date: date, end_date: date })
  return nights
}

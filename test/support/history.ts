import { expect } from 'vitest'
import { toVersion } from '../../src/host-clock/format.ts'
import type { Db } from '../../src/platform/mongo/connection.ts'
import { bookingModel } from '../../src/stays/bookings/model.ts'
import { toStatusWord } from '../../src/stays/bookings/status.ts'
import { messageModel } from '../../src/stays/messages/model.ts'
import { sender } from './app.ts'

/** An item as a poller sees it; its state is a booking's status or a message's text. */
export interface SeenItem {
  id: number
  state: string
  version: string
}

/** A query as a partner sends it. */
export interface Question {
  updated_after?: string
  page?: number
  per_page: number
  cursor?: string
  wait?: number
}

/** A feed as a partner uses it: pages by number after a version, or by cursor. */
export interface Feed {
  page(question: Question): Promise<{
    items: SeenItem[]
    lastPage: number
    total: number
    nextCursor: string | null
  }>
}

/** The two feeds, each with a function that reads its items from a response. */
const kinds = {
  // biome-ignore lint/suspicious/noExplicitAny: items as they come over HTTP
  bookings: (data: any): SeenItem[] =>
    data.Bookings.map(({ booking_id, status, version }: Record<string, unknown>) => ({
      id: booking_id,
      state: status,
      version,
    })),
  // biome-ignore lint/suspicious/noExplicitAny: items as they come over HTTP
  messages: (data: any): SeenItem[] =>
    data.messages.map(({ id, text, version }: Record<string, unknown>) => ({ id, state: text, version })),
}
export type FeedKind = keyof typeof kinds

/**
 * Returns a feed over HTTP. If a process has just been killed, the request is retried against the process that is
 * picked next. If a busy machine could not respond in time, the request is retried after the response's `Retry-After`.
 */
export function httpFeed(
  pickUrl: () => string,
  key: string,
  kind: FeedKind = 'bookings',
  send: (request: Request) => Promise<Response> = fetch,
): Feed {
  return {
    async page(asked) {
      const query = new URLSearchParams()
      for (const [name, value] of Object.entries(asked))
        if (value !== undefined) query.set(name, String(value))
      const path = `/v1/integrations/provider_one/${kind}?${query}`
      for (;;) {
        const response = await sender(send, pickUrl())('GET', path, { key, repeatWhileBusy: true }).catch(
          () => null,
        )
        if (response === null) continue
        expect(response.status, response.text).toBe(200)
        const { pagination } = response.body.meta
        return {
          items: kinds[kind](response.body.data),
          lastPage: pagination.last_page,
          total: pagination.total,
          nextCursor: pagination.next_cursor,
        }
      }
    },
  }
}

/** The final states that a feed should have shown, by id, each with its version. */
export type Truth = Map<number, { state: string; version: string }>

/** Returns a host's bookings as the database stores them. */
export async function truthOf(db: Db, hostId: number): Promise<Truth> {
  const bookings = await bookingModel(db).find({ owner_id: hostId }).lean()
  return new Map(
    bookings.map(({ id, status, updated_at }) => [
      id,
      { state: toStatusWord(status), version: toVersion(updated_at) },
    ]),
  )
}

/** Returns a host's messages as the database stores them. */
export async function messagesOf(db: Db, hostId: number): Promise<Truth> {
  const messages = await messageModel(db).find({ owner_id: hostId }).lean()
  return new Map(messages.map(({ id, text, version }) => [id, { state: text, version: toVersion(version) }]))
}

/** How a {@link Poller} reads. */
interface Polling {
  perPage: number
  /** True to follow `next_cursor`, false to ask for pages by number. */
  byCursor: boolean
  /** Seconds that each poll waits for changes. */
  wait?: number | null
}

/** Polls a feed; records the items that it has seen and the errors that it noticed. */
export class Poller {
  readonly known = new Map<number, SeenItem>()
  readonly complaints: string[] = []
  private readonly perPage: number
  private readonly byCursor: boolean
  private readonly wait: number | undefined
  private last: string | undefined

  constructor(
    readonly name: string,
    private readonly feed: Feed,
    { perPage, byCursor, wait }: Polling,
  ) {
    this.perPage = perPage
    this.byCursor = byCursor
    this.wait = wait ?? undefined
  }

  /**
   * Reads every page after the last processed version, as the contract instructs partners. Returns the first page's
   * total.
   */
  async poll(): Promise<number> {
    const wait = this.wait === undefined ? {} : { wait: this.wait }
    const after = { ...wait, ...(this.last === undefined ? {} : { updated_after: this.last }) }
    let highest = this.last
    let firstTotal: number | undefined
    let cursor: string | null = null
    for (let page = 1; ; page += 1) {
      const query = this.byCursor && cursor !== null ? { ...after, cursor } : { ...after, page }
      const response = await this.feed.page({ ...query, per_page: this.perPage })
      firstTotal ??= response.total
      for (const item of response.items) {
        this.take(item)
        if (highest === undefined || item.version > highest) highest = item.version
      }
      cursor = response.nextCursor
      if (this.byCursor ? cursor === null : page >= response.lastPage) break
    }
    this.last = highest
    return firstTotal ?? 0
  }

  private take(item: SeenItem): void {
    const before = this.known.get(item.id)
    if (before && item.version < before.version)
      this.complaints.push(`${item.id} went back to ${item.version}`)
    else this.known.set(item.id, item)
  }

  /** Returns the ids of the items whose final state this poller does not know. */
  losses(truth: Truth): number[] {
    return [...truth].flatMap(([id, { state, version }]) => {
      const known = this.known.get(id)
      return known?.state === state && known.version === version ? [] : [id]
    })
  }
}

/** Returns a generator of numbers from 0 to 1, whose sequence depends only on the seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

import type { Logger } from 'pino'
import type { EntryDestinations, Journal } from '../../http/context.ts'
import type { RequestEntry } from '../../http/request-entry.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { addCounts } from './counts-store.ts'
import { countRequest, kindOf, type MinuteCounts } from './kinds.ts'
import type { StoredRequest } from './model.ts'
import { insertRequests, keptEntries, toStoredRequest, trimSeries } from './store.ts'

/** With the time of the write, an entry is visible within 2 s (decisions §18). */
const flushEveryMilliseconds = 1500
/** How many entries a process keeps until they are written (decisions §18). */
export const maxUnwritten = 10_000
/** Of one key: a key that is refused fast leaves room for the others; what is beyond is counted and not listed. */
export const maxUnwrittenOfKey = 1200

type Key = { id: number; hostId: number }

/** The requests and counts noted of one key. */
interface Noted {
  key: Key
  failures: StoredRequest[]
  others: StoredRequest[]
  counts: MinuteCounts
}

/** Requests and counts that are written together. A batch stays the same until it is: the database knows what it has already. */
interface Batch {
  number: number
  counted: { key: Key; counts: MinuteCounts }[]
  requests: StoredRequest[]
}

/** A series is trimmed when one process has added so many entries to it, and when it adds its first. */
const trimEvery = 50
/** So many series one process keeps in mind. */
const maxSeries = 10_000

/** Collects the requests of each key in memory and writes them every 1.5 s, beside the requests that come. */
export class RequestJournal implements Journal {
  private noted = new Map<number, Noted>()
  /** How many entries are kept, whether or not they are being written. */
  private size = 0
  private readonly name = crypto.randomUUID()
  private batch: Batch | undefined
  private batches = 0
  /** Entries added since a series was trimmed, by its name. */
  private readonly untrimmed = new Map<string, number>()
  private writing: Promise<void> | undefined
  private readonly flusher: ReturnType<typeof setInterval>

  /** @param onDropped told how many entries there was no room for */
  constructor(
    private readonly db: Db,
    private readonly log: Logger,
    private readonly onDropped: (entries: number) => void,
  ) {
    this.flusher = setInterval(() => this.flush(), flushEveryMilliseconds)
    this.flusher.unref()
  }

  record(key: Key, entry: RequestEntry, { isListed, isCounted }: EntryDestinations): void {
    const noted = this.notedOf(key)
    if (isCounted) countRequest(noted.counts, entry.at.getTime(), kindOf(entry.status))
    if (isListed) this.list(noted, entry)
  }

  /** Writes what was noted so far; what cannot be written is kept for the next attempt. */
  async flush(): Promise<void> {
    // What came after the current write began is for the next one.
    await this.writing
    this.writing ??= this.write().finally(() => {
      this.writing = undefined
    })
    await this.writing
  }

  async close(): Promise<void> {
    clearInterval(this.flusher)
    await this.flush()
  }

  private notedOf(key: Key): Noted {
    const known = this.noted.get(key.id)
    if (known) return known
    const fresh: Noted = { key, failures: [], others: [], counts: new Map() }
    this.noted.set(key.id, fresh)
    return fresh
  }

  private list({ key, failures, others }: Noted, entry: RequestEntry): void {
    if (this.size >= maxUnwritten || failures.length >= maxUnwrittenOfKey) {
      this.onDropped(1)
      return
    }
    this.size += 1
    const request = toStoredRequest(key, entry)
    const series = request.failed ? failures : others
    series.push(request)
    // What would be trimmed at once need not be written.
    if (others.length >= keptEntries.others * 1.1)
      this.size -= others.splice(0, others.length - keptEntries.others).length
  }

  /** First what could not be written before, then what came since. */
  private async write(): Promise<void> {
    const isLate = this.batch !== undefined
    this.batch ??= this.takeBatch()
    try {
      await this.writeBatch(this.batch)
      this.batch = undefined
    } catch (error) {
      this.log.warn({ error: String(error) }, 'Cannot write the request log')
      return
    }
    if (isLate) await this.write()
  }

  private takeBatch(): Batch {
    const all = [...this.noted.values()]
    this.noted = new Map()
    this.batches += 1
    return {
      number: this.batches,
      counted: all.filter(({ counts }) => counts.size > 0),
      requests: all.flatMap(({ failures, others }) => [...failures, ...others]),
    }
  }

  private async writeBatch({ number, counted, requests }: Batch): Promise<void> {
    await addCounts(this.db, this.name, number, counted)
    await insertRequests(this.db, requests)
    this.size -= requests.length
    await this.trim(requests)
  }

  /** Series that are not trimmed now are so the next time. */
  private async trim(written: StoredRequest[]): Promise<void> {
    for (const [name, added] of Map.groupBy(written, ({ key_id, failed }) => `${key_id}:${failed}`)) {
      const untrimmed = (this.untrimmed.get(name) ?? trimEvery) + added.length
      if (this.untrimmed.size >= maxSeries) this.untrimmed.clear()
      this.untrimmed.set(name, untrimmed < trimEvery ? untrimmed : 0)
      const [series] = added
      if (series && untrimmed >= trimEvery)
        await trimSeries(this.db, series).catch((error) =>
          this.log.warn({ error: String(error) }, 'Cannot trim the request log'),
        )
    }
  }
}

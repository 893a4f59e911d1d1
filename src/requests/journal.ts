import type { Logger } from 'pino'
import type { Clock } from '../clock.ts'
import type { EntryPlaces, Journal } from '../context.ts'
import type { RequestEntry } from '../http/request-entry.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { type EntrySeries, OpenBuckets } from './buckets.ts'
import { addCounts } from './counts-store.ts'
import { addToMinute, countRequest, kindOf, type MinuteCounts } from './kinds.ts'
import { addEntries, keptEntries, trimSeries } from './store.ts'

/** With the time of the write, an entry is visible within 2 s (decisions §18). */
const flushEveryMilliseconds = 1500
/** How many entries a process keeps until they are written (decisions §18). */
export const maximumUnwritten = 10_000

type Key = { id: number; hostId: number }

/** What is to be written of one key. */
interface Unwritten {
  key: Key
  failures: RequestEntry[]
  others: RequestEntry[]
  counts: MinuteCounts
}

/** Collects the requests of each key in memory and writes them every 1.5 s, in one write per bucket. */
export class RequestJournal implements Journal {
  private unwritten = new Map<number, Unwritten>()
  private size = 0
  private readonly buckets = new OpenBuckets()
  private writing: Promise<void> | undefined
  private readonly flusher: ReturnType<typeof setInterval>

  /** @param onDropped told how many entries there was no room for */
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly log: Logger,
    private readonly onDropped: (entries: number) => void,
  ) {
    this.flusher = setInterval(() => this.flush(), flushEveryMilliseconds)
    this.flusher.unref()
  }

  record(key: Key, entry: RequestEntry, { isListed, isCounted }: EntryPlaces): void {
    const unwritten = this.unwrittenOf(key)
    if (isCounted) countRequest(unwritten.counts, entry.at.getTime(), kindOf(entry.status))
    if (isListed) this.list(unwritten, entry)
  }

  /** Writes what was taken so far; what cannot be written is kept for the next attempt. */
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

  private unwrittenOf(key: Key): Unwritten {
    const known = this.unwritten.get(key.id)
    if (known) return known
    const fresh: Unwritten = { key, failures: [], others: [], counts: new Map() }
    this.unwritten.set(key.id, fresh)
    return fresh
  }

  private list({ failures, others }: Unwritten, entry: RequestEntry): void {
    if (this.size >= maximumUnwritten) {
      this.onDropped(1)
      return
    }
    this.size += 1
    const series = entry.status >= 400 ? failures : others
    series.push(entry)
    // What would be trimmed at once need not be written.
    if (others.length >= keptEntries.others * 1.1)
      this.size -= others.splice(0, others.length - keptEntries.others).length
  }

  private async write(): Promise<void> {
    const taken = this.unwritten
    this.unwritten = new Map()
    this.size = 0
    try {
      await addCounts(this.db, [...taken.values()])
      for (const { counts } of taken.values()) counts.clear()
      await this.writeEntries([...taken.values()].flatMap(seriesOf))
    } catch (error) {
      this.log.warn({ error: String(error) }, 'Cannot write the request log')
      this.buckets.abandon()
      this.putBack(taken)
    }
  }

  private async writeEntries(all: { series: EntrySeries; entries: RequestEntry[] }[]): Promise<void> {
    const now = this.clock()
    const writes = all.flatMap(({ series, entries }) => this.buckets.place(series, entries, now))
    await addEntries(this.db, writes)
    for (const { entries } of all) entries.length = 0
    for (const { series } of all) if (this.buckets.isTrimDue(series)) await trimSeries(this.db, series)
  }

  /** What was not written goes before what came meanwhile. */
  private putBack(taken: Map<number, Unwritten>): void {
    const newer = [...this.unwritten.values()]
    this.unwritten = taken
    this.size = [...taken.values()].reduce(
      (sum, { failures, others }) => sum + failures.length + others.length,
      0,
    )
    for (const { key, failures, others, counts } of newer) {
      const unwritten = this.unwrittenOf(key)
      for (const [minute, added] of counts) addToMinute(unwritten.counts, minute, added)
      for (const entry of [...failures, ...others]) this.list(unwritten, entry)
    }
  }
}

function seriesOf({ key, failures, others }: Unwritten) {
  const owner = { host_id: key.hostId, key_id: key.id }
  const all = [
    { series: { ...owner, failed: true }, entries: failures },
    { series: { ...owner, failed: false }, entries: others },
  ]
  return all.filter(({ entries }) => entries.length > 0)
}

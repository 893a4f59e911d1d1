import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import type { EntryDestinations, Journal } from '../../http/context.ts'
import type { RequestEntry } from '../../http/request.ts'
import { BufferedWriter } from '../../platform/buffered-writer.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { addCounts } from './counts-store.ts'
import { addToMinute, kindOf, type MinuteCounts } from './kinds.ts'
import type { StoredRequest } from './model.ts'
import { insertRequests, keptEntries, toStoredRequest, trimSeries } from './store.ts'

/**
 * Interval between writes. It leaves enough time for the write itself that entries are visible within 2 s (decisions
 * §18).
 */
const flushEveryMilliseconds = 1500
/** Maximum number of unwritten entries that a process holds (decisions §18). */
export const maxUnwritten = 10_000
/**
 * Maximum number of unwritten failures per key, so that a key with a burst of failures leaves room for other keys.
 * Further requests with that key are counted but not listed.
 */
export const maxUnwrittenOfKey = 1200

/** A key, or a client network whose failed authentications are counted; both ids of a network are 0. */
export type CountedKey = { id: number; hostId: number; address?: string }

/**
 * Maximum number of networks whose failed authentications a process counts individually in one hour. An attacker with
 * many addresses must not be able to fill the database, so all further networks are counted together.
 */
export const maxNetworks = 1000
/** Name under which all further networks in an hour are counted. */
const otherNetworks = 'others'

/** The recorded requests and counts of one key or network. */
interface PendingEntries {
  key: CountedKey
  failures: StoredRequest[]
  others: StoredRequest[]
  counts: MinuteCounts
}

/** Requests and counts that are written together. By its number, a retry recognizes the counts that are stored already. */
interface Batch {
  number: number
  /** What is noted of each key and network, by its id or address. */
  noted: Map<number | string, PendingEntries>
}

/** A process trims a series when it first writes to the series, and again whenever it has added this many entries. */
const trimEvery = 50
/** Maximum number of series that one process tracks. */
const maxSeries = 10_000

/** Collects each key's requests in memory and writes them every 1.5 s, so that no request waits for a write. */
export class RequestJournal implements Journal {
  private readonly writer: BufferedWriter<Batch>
  /** The networks that are counted individually in the current hour. */
  private networks = { hour: 0, names: new Set<string>() }
  /** Number of entries in memory, including those being written. */
  private size = 0
  private readonly name = crypto.randomUUID()
  private batches = 0
  /** Number of entries added to each series since it was last trimmed, by series name. */
  private readonly untrimmed = new LRUCache<string, number>({ max: maxSeries })

  /** @param onDropped receives the number of entries that were dropped for lack of room */
  constructor(
    private readonly db: Db,
    private readonly log: Logger,
    private readonly onDropped: (entries: number) => void,
  ) {
    this.writer = new BufferedWriter({
      milliseconds: flushEveryMilliseconds,
      newBatch: () => this.newBatch(),
      write: (batch) => this.writeBatch(batch),
      log,
      failureMessage: 'Cannot write the request log',
    })
  }

  record(key: CountedKey, entry: RequestEntry, { isListed, isCounted }: EntryDestinations): void {
    const noted = this.notedOf(key)
    if (isCounted) addToMinute(noted.counts, entry.at.getTime(), { [kindOf(entry.status)]: 1 })
    if (isListed) this.list(noted, entry)
  }

  countFailure(address: string, entry: RequestEntry): void {
    const hour = Math.floor(entry.at.getTime() / 3_600_000)
    if (this.networks.hour !== hour) this.networks = { hour, names: new Set() }
    const { names } = this.networks
    if (names.size < maxNetworks) names.add(address)
    const counted = { id: 0, hostId: 0, address: names.has(address) ? address : otherNetworks }
    addToMinute(this.notedOf(counted).counts, entry.at.getTime(), { [kindOf(entry.status)]: 1 })
  }

  /** Writes everything recorded before the call. If the write fails, the batch is kept for the next attempt. */
  flush(): Promise<void> {
    return this.writer.flush()
  }

  close(): Promise<void> {
    return this.writer.close()
  }

  private notedOf(key: CountedKey): PendingEntries {
    const name = key.address ?? key.id
    const { noted } = this.writer.next()
    const known = noted.get(name)
    if (known) return known
    const fresh: PendingEntries = { key, failures: [], others: [], counts: new Map() }
    noted.set(name, fresh)
    return fresh
  }

  private list({ key, failures, others }: PendingEntries, entry: RequestEntry): void {
    if (this.size >= maxUnwritten || failures.length >= maxUnwrittenOfKey) {
      this.onDropped(1)
      return
    }
    this.size += 1
    const request = toStoredRequest(key, entry)
    const series = request.failed ? failures : others
    series.push(request)
    // Entries that would be trimmed immediately do not need to be written.
    if (others.length >= keptEntries.others * 1.1)
      this.size -= others.splice(0, others.length - keptEntries.others).length
  }

  private newBatch(): Batch {
    this.batches += 1
    return { number: this.batches, noted: new Map() }
  }

  private async writeBatch({ number, noted }: Batch): Promise<void> {
    const all = [...noted.values()]
    const counted = all.filter(({ counts }) => counts.size > 0)
    const requests = all.flatMap(({ failures, others }) => [...failures, ...others])
    await addCounts(this.db, this.name, number, counted)
    await insertRequests(this.db, requests)
    this.size -= requests.length
    await this.trim(requests)
  }

  /**
   * Trims the written series that are due for trimming. A failure is only logged, because a later write trims the
   * series again.
   */
  private async trim(written: StoredRequest[]): Promise<void> {
    for (const [name, added] of Map.groupBy(written, ({ key_id, failed }) => `${key_id}:${failed}`)) {
      const untrimmed = (this.untrimmed.get(name) ?? trimEvery) + added.length
      this.untrimmed.set(name, untrimmed < trimEvery ? untrimmed : 0)
      const [series] = added
      if (series && untrimmed >= trimEvery)
        await trimSeries(this.db, series).catch((error) =>
          this.log.warn({ error: String(error) }, 'Cannot trim the request log'),
        )
    }
  }
}

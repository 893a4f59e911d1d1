import type { RequestEntry } from '../http/request-entry.ts'

/** The requests of one key, failures or the others. */
export interface EntrySeries {
  host_id: number
  key_id: number
  failed: boolean
}

/** Entries to be added to a bucket, which is made where there is none. */
export interface BucketWrite {
  series: EntrySeries
  /** Random, so that no two processes write to one. */
  bucketId: string
  /** How many entries the bucket has been given before. */
  before: number
  entries: RequestEntry[]
}

/** Small, because buckets are trimmed as a whole, and the number kept is to be near to the number promised. */
export const bucketSize = 25
/** A series is trimmed when one process has added so many entries, and when a process adds its first. */
const trimEvery = 10
/** An old entry goes with the youngest one of its bucket. */
const openMilliseconds = 3_600_000
/** So many series one process keeps something in mind of. */
const maximumSeries = 10_000

interface Progress {
  bucketId: string
  count: number
  openedAt: number
  untrimmed: number
}

/** The buckets that this process fills: few documents, and no two writers of one. */
export class OpenBuckets {
  private readonly progress = new Map<string, Progress>()

  /** Distributes new entries of one series over its open bucket and further ones. */
  place(series: EntrySeries, entries: RequestEntry[], now: Date): BucketWrite[] {
    const progress = this.progressOf(series, now)
    const writes: BucketWrite[] = []
    for (let placed = 0; placed < entries.length; ) {
      if (progress.count >= bucketSize || now.getTime() - progress.openedAt >= openMilliseconds)
        Object.assign(progress, freshBucket(now))
      const added = entries.slice(placed, placed + bucketSize - progress.count)
      writes.push({ series, bucketId: progress.bucketId, before: progress.count, entries: added })
      progress.count += added.length
      progress.untrimmed += added.length
      placed += added.length
    }
    return writes
  }

  /** True when it is time to trim a series, to which entries were just added. */
  isTrimDue(series: EntrySeries): boolean {
    const progress = this.progress.get(nameOf(series))
    if (!progress || progress.untrimmed < trimEvery) return false
    progress.untrimmed = 0
    return true
  }

  private progressOf(series: EntrySeries, now: Date): Progress {
    const known = this.progress.get(nameOf(series))
    if (known) return known
    if (this.progress.size >= maximumSeries) this.progress.clear()
    const progress = { ...freshBucket(now), untrimmed: trimEvery }
    this.progress.set(nameOf(series), progress)
    return progress
  }
}

function nameOf({ key_id, failed }: EntrySeries): string {
  return `${key_id}:${failed}`
}

function freshBucket(now: Date) {
  return { bucketId: crypto.randomUUID().replaceAll('-', ''), count: 0, openedAt: now.getTime() }
}

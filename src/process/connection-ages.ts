import { LRUCache } from 'lru-cache'

/**
 * Ends connections by age. Without this, clients and proxies that keep their connections open for hours would go on
 * sending everything to the processes that were there first, and a new process would get no share (decisions §28).
 */

/** Age at which a connection is closed with its next response, plus up to a tenth, so that not all end at once. */
const longestMilliseconds = 10 * 60_000
const spread = 0.1
/**
 * A connection without a request for this long is gone, and its port may belong to another one. An idle connection is
 * closed after 2 minutes, and a request takes less than 3.
 */
const forgottenMilliseconds = 5 * 60_000
/** Maximum number of connections that are remembered; one that is forgotten may stay open for longer. */
const maxRemembered = 20_000

/** The client's end of a connection. */
interface Peer {
  address: string
  port: number
}

/** Remembers how long each connection has been open. */
export class ConnectionAges {
  /** The time from which a connection is closed, by its client's end. */
  private readonly ends: LRUCache<string, number>

  /** @param now returns a monotonic time in milliseconds */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.ends = new LRUCache({
      max: maxRemembered,
      ttl: forgottenMilliseconds,
      updateAgeOnGet: true,
      perf: { now },
    })
  }

  /** Notes a request; returns true if its connection has been open for so long that the response must close it. */
  isOld({ address, port }: Peer): boolean {
    const name = `${address}/${port}`
    const now = this.now()
    const end = this.ends.get(name)
    if (end === undefined) {
      this.ends.set(name, now + longestMilliseconds * (1 + Math.random() * spread))
      return false
    }
    if (now < end) return false
    this.ends.delete(name)
    return true
  }
}

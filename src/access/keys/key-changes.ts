import type { Changes, StreamListener } from '../../host-clock/changes.ts'

/**
 * Longest time since the stream's last answer at which its silence means that nothing has changed. The stream answers
 * every two seconds, even if nothing has changed.
 */
const heardWithinMilliseconds = 4000

/**
 * Tells without Redis whether keys have changed, by the change stream on the hosts' clocks. Without it, each request
 * without Redis would read its key's record from the database.
 *
 *     unasked --first question--> silent --the stream answers--> heard --no answer for 4 s--> silent
 *                                   ^                              |
 *                                   `-------the stream broke-------'
 *
 * While it is silent there is no revision, so each request reads its key's record. Whenever it is heard again, the
 * revision is another one, so nothing that was read before counts.
 *
 * This makes a change effective at once. That a change is effective within 5 s does not depend on it: a record is never
 * trusted for longer, whatever the stream says or omits (`authorizer.ts`).
 */
export class KeyChanges implements StreamListener {
  private changes = 0
  private heardAt = Number.NEGATIVE_INFINITY
  private isListening = false

  /** @param now returns the current time of a monotonic clock in milliseconds */
  constructor(
    private readonly stream: Pick<Changes, 'listen'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * Returns the common revision of all keys' records, which differs after each announced change. A record is current if
   * this revision has not changed since before the record was read. Returns null while changes could be missed. The
   * first call opens the stream.
   */
  revision(): string | null {
    if (!this.isListening) {
      this.isListening = true
      this.stream.listen(this)
    }
    return this.isHeard() ? `announced ${this.changes}` : null
  }

  heard(): void {
    if (!this.isHeard()) this.changes += 1
    this.heardAt = this.now()
  }

  keysChanged(): void {
    this.changes += 1
  }

  lost(): void {
    this.heardAt = Number.NEGATIVE_INFINITY
  }

  private isHeard(): boolean {
    return this.now() - this.heardAt < heardWithinMilliseconds
  }
}

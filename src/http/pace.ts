/** A limiter whose quickest answer takes at least this long is a network away, in milliseconds. */
const farMilliseconds = 1
/** Number of the latest decisions that show how far away the limiter is; at most twice as many are looked at. */
const remembered = 50

/**
 * Whether requests of this process mostly wait or mostly compute, and so whether they gain by being begun early
 * (`early-start.ts`): if the limiter is a network away, or if a request is alone.
 *
 * Without this rule, a busy process with a limiter nearby would serve a tenth less, because requests that come back from
 * the limiter together are looked up together, and those that are begun early are not.
 */
export class Pace {
  private underWay = 0
  private quickest = 0
  private quickestOfLate = Number.POSITIVE_INFINITY
  private decisions = 0

  /** Notes that a request has arrived. */
  enter(): void {
    this.underWay += 1
  }

  /** Notes that a request has been answered. */
  leave(): void {
    this.underWay -= 1
  }

  /** Notes how long the limiter took for a decision. */
  noteDecision(seconds: number): void {
    this.quickestOfLate = Math.min(this.quickestOfLate, seconds * 1000)
    this.decisions += 1
    if (this.decisions < remembered) return
    this.quickest = this.quickestOfLate
    this.quickestOfLate = Number.POSITIVE_INFINITY
    this.decisions = 0
  }

  /** @param held number of requests under way that wait for a change */
  isWaiting(held: number): boolean {
    const isFar = Math.min(this.quickest, this.quickestOfLate) >= farMilliseconds
    return isFar || this.underWay - held <= 1
  }
}

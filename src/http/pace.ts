/** A limiter whose quickest answer takes at least this long is a network away, in milliseconds. */
const farMilliseconds = 1
/** Decisions per window. The current window and the one before it show how far away the limiter is. */
const windowSize = 50

/**
 * Whether requests of this process mostly wait or mostly compute, and so whether they gain by being begun early
 * (`early-start.ts`): if the limiter is a network away, or if a request is alone.
 *
 * Without this rule, a busy process with a limiter nearby would serve a tenth less, because requests that come back from
 * the limiter together are looked up together, and those that are begun early are not.
 */
export class Pace {
  private underWay = 0
  private quickestBefore = 0
  private quickestNow = Number.POSITIVE_INFINITY
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
    this.quickestNow = Math.min(this.quickestNow, seconds * 1000)
    this.decisions += 1
    if (this.decisions < windowSize) return
    this.quickestBefore = this.quickestNow
    this.quickestNow = Number.POSITIVE_INFINITY
    this.decisions = 0
  }

  /**
   * Returns true if a request gains by an early start.
   *
   * @param held number of requests under way that wait for a change
   */
  gainsByEarlyStart(held: number): boolean {
    const isFar = Math.min(this.quickestBefore, this.quickestNow) >= farMilliseconds
    return isFar || this.underWay - held <= 1
  }
}

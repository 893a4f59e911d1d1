/**
 * Reads a file without holding up requests (decisions §31): the work is cut into slices, and of all files that a process
 * reads, one has one slice in each turn of the loop. A worker thread would cost more memory than four readings need here.
 * Without this, a large file or a long rule delays every request of the process.
 */

/** A request waits for at most one slice, so this is far below the 20 ms of decisions §31, for slower machines too. */
const sliceMilliseconds = 4
/** How often the time is looked at: a step takes far less than a microsecond. */
const stepsPerLook = 128
/** Bounds what one file may cost. Ten thousand rules that repeat daily take about half of it. */
const maxSteps = 25_000_000
const maxMilliseconds = 10_000

/** Thrown if a file takes more work than any calendar in use. */
export class TooMuchWork extends Error {}

/** The files that wait for a slice, in turn. */
const waiting: (() => void)[] = []

function letNextWork(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(letNextWork)
}

function nextSlice(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(letNextWork)
  })
}

/** The work on one file. */
export class Pace {
  private steps = 0
  private sliceBegan = 0
  private spentMilliseconds = 0

  /** Waits for a slice in which the work begins or goes on. */
  async begin(): Promise<void> {
    await nextSlice()
    this.sliceBegan = performance.now()
  }

  /**
   * Ends a slice early, so that the time until the next {@link begin} does not count.
   *
   * @throws TooMuchWork if the file has had all the time that a file may have
   */
  end(): void {
    this.spentMilliseconds += performance.now() - this.sliceBegan
    if (this.spentMilliseconds > maxMilliseconds) throw new TooMuchWork()
  }

  /**
   * Counts steps of work, and returns true if the slice is over and {@link rest} must be awaited.
   *
   * @throws TooMuchWork if the file has had all steps or all time that a file may have
   */
  isOver(steps = 1): boolean {
    const before = this.steps
    this.steps += steps
    if (Math.floor(before / stepsPerLook) === Math.floor(this.steps / stepsPerLook)) return false
    if (this.steps > maxSteps) throw new TooMuchWork()
    return performance.now() - this.sliceBegan > sliceMilliseconds
  }

  /** Lets requests and other files go first. */
  async rest(): Promise<void> {
    this.end()
    await this.begin()
  }
}

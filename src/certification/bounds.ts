/** The times of a certification, in milliseconds: all that a case is graded by (decisions §25). */
export interface Bounds {
  /** How often each running one is looked at. */
  look: number
  /** A step that makes no progress for so long fails its case. */
  serve: number
  /** A stop is proved by silence: of so long at least, of twice the product's pace, and of `longestSilence` at most. */
  silence: number
  longestSilence: number
  /** The minute of `feed.pace`. */
  quiet: number
  /** How long is waited for the clock to catch up with versions that a burst has made. */
  catchUp: number
  /** How long 429 lasts: 2.5 times the pace, within these. */
  limitedAtLeast: number
  limitedAtMost: number
  /** How long 500 lasts, and 502. */
  failing: number
  /** How long responses are lost, and cut. */
  losing: number
  /** A hint is taken within `quick`; it is followed by a read within `followed`; where it is lost, within `unheard`. */
  quick: number
  followed: number
  unheard: number
  /** A running one without a step done for so long has expired. */
  expiry: number
  /** A request is held no longer than this, so that a silence is one. */
  hold: number
  /** What is held is answered before a step plays: it takes this long to arrive. */
  settle: number
  /** Equal requests within so long are the runtime's. */
  runtime: number
}

const second = 1000
const minute = 60 * second

export const bounds: Bounds = {
  look: second,
  serve: 5 * minute,
  silence: 20 * second,
  longestSilence: 3 * minute,
  quiet: minute,
  catchUp: 4 * minute,
  limitedAtLeast: 10 * second,
  limitedAtMost: minute,
  failing: 10 * second,
  losing: 2 * second,
  quick: 5 * second,
  followed: minute,
  unheard: 10 * minute,
  expiry: 120 * minute,
  hold: 10 * second,
  settle: 500,
  runtime: 100,
}

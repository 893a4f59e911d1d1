/** The times that govern a certification and its grading, in milliseconds (decisions §25). */
export interface Bounds {
  /** Interval between two looks at a running certification. */
  look: number
  /** Time without progress after which a step fails its cases. */
  serve: number
  /** Silence that counts as a stop: twice the product's pace, but at least `silence` and at most `longestSilence`. */
  silence: number
  longestSilence: number
  /** Duration of the quiet minute of `feed.pace`. */
  quiet: number
  /** Longest wait for the clock to catch up with the versions of a burst. */
  catchUp: number
  /** Limits for the feed's 429, which lasts 2.5 times the product's pace. The 429 for pushes lasts the minimum. */
  limitedAtLeast: number
  limitedAtMost: number
  /** Duration of the 500, and of the 502. */
  failing: number
  /** Duration of the lost responses, and of the cut responses. */
  losing: number
  /** A hint must be taken within `quick` and followed by a read within `followed`, or `unheard` if the hint is lost. */
  quick: number
  followed: number
  unheard: number
  /** A running certification expires if its step is not completed within this time. */
  expiry: number
  /** Maximum time to hold a request, short enough that holding it is not mistaken for silence. */
  hold: number
  /** Time for the responses to released requests to reach the product before a step plays. */
  settle: number
  /** Equal requests within this time count as retries by the product's runtime. */
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

import { type Bounds, bounds } from '../../../src/certification/course/cases.ts'

/** A tenth of the usual times, so that many courses can be played. Times sent in `Retry-After` must be whole seconds. */
export const fast: Bounds = {
  ...bounds,
  checkInterval: 100,
  stepTimeout: 20_000,
  silence: 2500,
  longestSilence: 10_000,
  quiet: 6000,
  catchUp: 0,
  minRateLimitDuration: 4000,
  maxRateLimitDuration: 6000,
  errorDuration: 3000,
  lossDuration: 300,
  quick: 1000,
  followed: 6000,
  /** Longer than any pause between polls of a product that also accepts hints. */
  missedHintWindow: 35_000,
  hold: 1000,
  settle: 200,
  runtime: 20,
}

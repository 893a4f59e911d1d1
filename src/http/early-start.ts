import type { KnownKey } from './context.ts'

/**
 * A request that is begun while the rate limiter still decides on it, so that it waits for the limiter and for what it
 * reads at once rather than one after the other.
 *
 *     begin ──> the steps after admission run, up to their first effect ──> they wait for `admitted()`
 *        ├─ admit: the limiter allows it, and the key's record is the one that was assumed ──> they go on: the answer
 *        └─ give up: it is refused, or the key has changed ──> they end, and what they have read or thrown is thrown away
 *
 * Two things keep this invisible to clients. The steps are those of a request that is not begun early, and what they
 * return or throw is used where it belongs in their order, so a refusal comes in the order of decisions §1. And nothing
 * is changed, announced or noted before `admitted()`: the pipeline and the writer wait for it themselves, and so does a
 * handler that does more than read.
 */
export class EarlyStart<Answer> {
  private begun: Begun<Answer> | undefined

  /**
   * Begins a request.
   *
   * @param known the record that is assumed to be the key's
   * @param run takes the steps after admission
   */
  begin(known: KnownKey, run: (admission: Admission) => Promise<Answer>): void {
    const admission = new Admission()
    const answer = run(admission)
    // Nobody may ever look at a request that is given up.
    answer.catch(() => {})
    this.begun = { known, admission, answer }
  }

  /** Admits the request, if it was begun for the key's record as it is; returns undefined if it has yet to begin. */
  admit({ key, host }: KnownKey): Promise<Answer> | undefined {
    const { begun } = this
    if (!begun) return undefined
    // If this breaks: a key whose permissions have changed is served as before
    if (begun.known.key !== key || begun.known.host !== host) {
      this.giveUp()
      return undefined
    }
    begun.admission.open()
    return begun.answer
  }

  /** Gives up what was begun; without effect on a request that was admitted. */
  giveUp(): void {
    this.begun?.admission.refuse()
  }
}

interface Begun<Answer> {
  known: KnownKey
  admission: Admission
  answer: Promise<Answer>
}

/** Whether a request that was begun early has been admitted. */
export class Admission {
  private outcome: 'admitted' | 'given up' | undefined
  private waiting: PromiseWithResolvers<void> | undefined

  /** Waits until the request is admitted; returns undefined if it already is. Rejects if the request is given up. */
  wait(): Promise<void> | undefined {
    if (this.outcome === 'admitted') return undefined
    this.requireNotGivenUp()
    // Most requests have nothing to wait for, so the promise is made only for those that do.
    this.waiting ??= Promise.withResolvers()
    return this.waiting.promise
  }

  open(): void {
    this.outcome = 'admitted'
    this.waiting?.resolve()
  }

  refuse(): void {
    if (this.outcome !== undefined) return
    this.outcome = 'given up'
    this.waiting?.reject(new GivenUp())
  }

  /** @throws GivenUp if the request was given up, so that nothing more is begun for it */
  requireNotGivenUp(): void {
    if (this.outcome === 'given up') throw new GivenUp()
  }
}

/** The admission of the requests that are begun after it. */
export const alreadyAdmitted = new Admission()
alreadyAdmitted.open()

/** Ends the steps of a request that was given up. Nobody sees it. */
class GivenUp extends Error {}

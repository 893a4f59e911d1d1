import type { RateDecision } from '../../platform/rate-limiter.ts'

/** Requests counted elsewhere for each one that is counted here: those of three further processes, evenly shared. */
const countedElsewhere = 3
/** Room that is left alone, because requests are not shared evenly. */
const reserve = 8

/**
 * What this process knows of the room in one rate limit of a key, so that a request may be begun before the limiter has
 * decided on it (`http/early-start.ts`). The rule:
 *
 *     remaining of the last decision  >  (under way here) × (1 + counted elsewhere)  +  reserve
 *
 * The last decision knows all requests that were counted before it, in every process. Those of this process that wait for
 * their decision are under way. What other processes count in the meantime is not known, so room is left for it.
 *
 * Nothing is begun early before the first decision, after a refusal (which leaves nothing) until a request was allowed
 * with room, and near the limit. So a flood of refused requests begins nothing. Without this rule, each of them would cost
 * the database what it was about to read. If other processes use up all the room between two requests of this one, what
 * has been begun here is thrown away, and that refusal is the last to cost anything.
 */
export class KnownRoom {
  private remaining = 0
  private underWay = 0

  /** True if the requests under way certainly have room, as far as this process can know. */
  get isAmple(): boolean {
    // If this breaks: a flood of refused requests reaches the database
    return this.remaining > this.underWay * (1 + countedElsewhere) + reserve
  }

  /** Notes that a request waits for the limiter's decision. */
  begin(): void {
    this.underWay += 1
  }

  /** Notes the limiter's decision on a request. */
  end({ allowed, remaining }: Pick<RateDecision, 'allowed' | 'remaining'>): void {
    this.underWay -= 1
    this.remaining = allowed ? remaining : 0
  }
}

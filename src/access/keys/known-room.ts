import type { RateDecision } from '../../platform/rate-limiter.ts'

/** Requests counted elsewhere for each one that is counted here, if four processes share the requests evenly. */
const countedElsewhere = 3
/** Share of the limit that is left alone, because requests are not shared evenly. */
const reservedShare = 1 / 3

/**
 * What this process knows of the room in one rate limit of a key, so that a request may be begun before the limiter has
 * decided on it (`http/early-start.ts`). The rule:
 *
 *     remaining of the last decision  >  (under way here) × (1 + counted elsewhere)  +  a third of the limit
 *
 * The last decision knows all requests that were counted before it, in every process. Those of this process that wait for
 * their decision are under way. What other processes count in the meantime is not known, so room is left for it.
 *
 * Nothing is begun early before the first decision, near the limit, and after a refusal (which leaves nothing) until a
 * request was allowed with room. So no request of a flood that is refused is begun early, and if one process serves all
 * requests, each request that is begun early is allowed. Without this rule, each refused request would cost the database
 * what it was about to read. If other processes use up most of the limit at once, this process begins at most a sixth of
 * the limit early for requests that are then refused.
 */
export class KnownRoom {
  private remaining = 0
  private reserved = 0
  private underWay = 0

  /** True if the requests under way have room, as far as this process can know. */
  get isAmple(): boolean {
    // If this breaks: a flood of refused requests reaches the database
    return this.remaining > this.underWay * (1 + countedElsewhere) + this.reserved
  }

  /** Notes that a request waits for the limiter's decision. */
  begin(): void {
    this.underWay += 1
  }

  /**
   * Notes the limiter's decision on a request.
   *
   * @param limit requests per minute
   */
  end({ allowed, remaining }: Pick<RateDecision, 'allowed' | 'remaining'>, limit: number): void {
    this.underWay -= 1
    this.remaining = allowed ? remaining : 0
    this.reserved = limit * reservedShare
  }
}

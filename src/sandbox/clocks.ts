import type { Clock } from '../core/clock.ts'
import type { Db } from '../platform/mongo/connection.ts'
import { findAhead } from './life-store.ts'

/** How far a sandbox's clock may be ahead altogether: 400 days. */
export const maxAheadSeconds = 400 * 86_400

/**
 * The clocks of all sandboxes: each is as far ahead as its key has moved it (decisions §22). A request reads its own
 * sandbox, and so how far that is; what works in the background looks at all that are ahead.
 */
export class SandboxClocks {
  /** Seconds, by scope; none for a clock that was not moved. */
  private readonly ahead = new Map<number, number>()

  constructor(
    private readonly db: Db,
    private readonly real: Clock,
  ) {}

  readonly clock: Clock = (scope) => {
    const ahead = scope === undefined ? 0 : (this.ahead.get(scope) ?? 0)
    return new Date(this.real().getTime() + ahead * 1000)
  }

  /** How far a sandbox is ahead, as somebody has read it: it only ever grows, and two reads may come in either order. */
  note(scope: number, seconds: number): void {
    if (seconds > (this.ahead.get(scope) ?? 0)) this.ahead.set(scope, seconds)
  }

  /** Looks at all clocks, and forgets those of sandboxes that have ended. */
  async refresh(): Promise<void> {
    const before = [...this.ahead.keys()]
    const found = new Map((await findAhead(this.db)).map(({ _id, ahead_seconds }) => [_id, ahead_seconds]))
    for (const scope of before) if (!found.has(scope)) this.ahead.delete(scope)
    for (const [scope, seconds] of found) this.note(scope, seconds)
  }
}

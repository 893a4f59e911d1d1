import type { Clock } from '../../core/clock.ts'
import type { Db } from '../../platform/mongo/connection.ts'
import { findAhead } from '../store.ts'

/** Maximum total offset of a sandbox's clock, in seconds: 400 days. */
export const maxAheadSeconds = 400 * 86_400

/**
 * The clocks of all sandboxes. A clock's offset is the total amount by which its key has moved the clock forward
 * (decisions §22). A request gets the offset from its sandbox's record. Background work must call {@link refresh}
 * before it reads a sandbox's clock, because another process may have moved the clock; otherwise, hints would be signed
 * with secrets that have ended, for example.
 */
export class SandboxClocks {
  /** Offset of each clock in seconds, by sandbox. Clocks that were never moved are absent. */
  private readonly ahead = new Map<number, number>()

  constructor(
    private readonly db: Db,
    private readonly real: Clock,
  ) {}

  readonly clock: Clock = (sandboxId) => {
    const ahead = sandboxId === undefined ? 0 : (this.ahead.get(sandboxId) ?? 0)
    return new Date(this.real().getTime() + ahead * 1000)
  }

  /** Records an offset in seconds. Offsets only grow, so a lower offset is out of date and is ignored. */
  note(sandboxId: number, seconds: number): void {
    if (seconds > (this.ahead.get(sandboxId) ?? 0)) this.ahead.set(sandboxId, seconds)
  }

  /**
   * Reloads the offsets of the given sandboxes, or of all sandboxes, and removes the offsets of those that have ended.
   */
  async refresh(sandboxIds?: number[]): Promise<void> {
    const before = sandboxIds ?? [...this.ahead.keys()]
    const ahead = await findAhead(this.db, sandboxIds)
    const found = new Map(ahead.map(({ _id, ahead_seconds }) => [_id, ahead_seconds]))
    for (const sandboxId of before) if (!found.has(sandboxId)) this.ahead.delete(sandboxId)
    for (const [sandboxId, seconds] of found) this.note(sandboxId, seconds)
  }
}

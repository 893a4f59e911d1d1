import { withTrace } from '../../core/trace.ts'
import type { AppContext } from '../../http/context.ts'
import type { StoredCalendar } from '../../inventory/calendars/model.ts'
import {
  type Claimed,
  claimCalendar,
  type DueCalendar,
  findDueCalendars,
  findNextDue,
  giveBackClaim,
} from '../../inventory/calendars/store.ts'
import { type OriginTurns, type Turn, unlimited } from '../../platform/outgoing/turns.ts'
import { withTimeoutOrNull } from '../../platform/time-limits.ts'
import { type ReadingContext, readClaimed } from './read-one.ts'
import { readingTurns, type TurnsContext } from './turns.ts'

/** Maximum number of readings at a time in a process, which bounds their memory (decisions §31). */
const maxAtOnce = 4
/**
 * Maximum number of those at one origin, and of one host. A server that responds to nothing takes 20 s for each reading, so
 * without it the two thousand calendars of one host would keep all other calendars from being read for hours.
 */
const maxOfOne = 2
/** Longest pause between two looks at what is due. Another process may have set an address, and read it within a minute. */
const maxPauseMilliseconds = 30_000
/** Pause while all that is due is at origins without a free turn. A turn lasts for a second at least. */
const busyPauseMilliseconds = 1000
/** Pause after a look that failed, for example because the database does not respond. */
const failurePauseMilliseconds = 5000
/** Number of due calendars that one query returns. */
const lookedAtOnce = 8
/** Maximum number of origins without a free turn that one look passes over. */
const maxBusyOrigins = 100
/** Time that readings in progress have when the process stops. */
const stopMilliseconds = 5000

/** A calendar that this process is reading. */
type CalendarInProgress = Claimed & Pick<StoredCalendar, 'origin' | 'next_read_at'>

/**
 * Reads the calendars that are due, in every process that has time (decisions §31). A calendar is read by whoever claims
 * it first; if that process is killed, the claim ends and the calendar is due again. Without the claim, two processes
 * would read a file twice as often as its server was promised.
 *
 * ```text
 *   asleep ── woken, or the next is due ──▶ looking ── a turn at the origin, and a claim ──▶ reading, up to 4 at a time
 *     ▲                                       │  ▲                                              │
 *     └──────── nothing due, no turn ─────────┘  └──────────────── a reading has ended ─────────┘
 * ```
 */
export class CalendarReader {
  private readonly turns: OriginTurns
  private readonly inProgress = new Map<string, Promise<void>>()
  /** The claims of the readings in progress, to be given back if the process stops first. */
  private readonly claims = new Map<string, CalendarInProgress>()
  private loop: Promise<void> | undefined
  private wakeUp = Promise.withResolvers<void>()
  private isStopped = false

  constructor(private readonly app: ReadingContext & TurnsContext & Pick<AppContext, 'log'>) {
    this.turns = readingTurns(app)
  }

  start(): void {
    this.loop ??= withTrace(undefined, () => this.run())
  }

  /** Looks at what is due now, for example because an address was set. */
  wake(): void {
    this.wakeUp.resolve()
  }

  /** Waits up to 5 s for the readings in progress, and leaves the rest to the other processes at once. */
  async stop(): Promise<void> {
    this.isStopped = true
    this.wake()
    const ended = Promise.all([this.loop, ...this.inProgress.values()])
    await withTimeoutOrNull(ended, stopMilliseconds)
    const unfinished = [...this.claims.values()].map((claim) => giveBackClaim(this.app.db, claim))
    await withTimeoutOrNull(Promise.all(unfinished), stopMilliseconds)
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      this.wakeUp = Promise.withResolvers<void>()
      const pause = await this.look().catch((error) => {
        this.app.log.warn({ error: String(error) }, 'Cannot look for due calendars')
        return failurePauseMilliseconds
      })
      await this.sleep(pause)
    }
  }

  private async sleep(milliseconds: number): Promise<void> {
    const timer = setTimeout(() => this.wakeUp.resolve(), milliseconds)
    timer.unref()
    await this.wakeUp.promise
    clearTimeout(timer)
  }

  /** Begins as many readings as it may. Returns how long there is nothing more to begin, in milliseconds. */
  private async look(): Promise<number> {
    const { db, clock, clockWatch } = this.app
    if (!clockWatch.isSound()) return failurePauseMilliseconds
    const withoutTurn = new Set<string>()
    while (this.mayBegin()) {
      const busyOrigins = [...withoutTurn, ...this.often('origin')]
      const busyOwners = this.often('owner_id')
      const due = await findDueCalendars(db, clock(), { busyOrigins, busyOwners, limit: lookedAtOnce })
      if (due.length === 0) break
      for (const calendar of due) {
        if (!this.mayBegin()) break
        if (withoutTurn.has(calendar.origin) || this.isOften(calendar)) continue
        const turn = await this.turnAt(calendar)
        if (turn) await this.claimAndBegin(calendar, turn)
        else withoutTurn.add(calendar.origin)
      }
      if (withoutTurn.size >= maxBusyOrigins) break
    }
    if (withoutTurn.size > 0) return busyPauseMilliseconds
    // The end of a reading wakes this process.
    if (!this.mayBegin()) return maxPauseMilliseconds
    if (this.often('owner_id').length > 0 || this.often('origin').length > 0) return busyPauseMilliseconds
    const next = await findNextDue(db)
    if (next === null) return maxPauseMilliseconds
    return Math.max(0, Math.min(next.getTime() - clock().getTime(), maxPauseMilliseconds))
  }

  private mayBegin(): boolean {
    return !this.isStopped && this.inProgress.size < maxAtOnce
  }

  /** Returns the hosts, or the origins, of which as many calendars are being read as may be. */
  private often<Of extends 'owner_id' | 'origin'>(of: Of): CalendarInProgress[Of][] {
    const readings = Map.groupBy(this.claims.values(), (reading) => reading[of])
    return [...readings].filter(([, ones]) => ones.length >= maxOfOne).map(([one]) => one)
  }

  private isOften({ owner_id, origin }: DueCalendar): boolean {
    return this.often('owner_id').includes(owner_id) || this.often('origin').includes(origin)
  }

  private async turnAt({ origin }: DueCalendar): Promise<Turn | null> {
    // An address that cannot be read has no origin. Its reading fails at once, without a request.
    if (origin === '') return unlimited
    const [turn] = await this.turns.take(origin, 1)
    return turn ?? null
  }

  private async claimAndBegin(due: DueCalendar, turn: Turn): Promise<void> {
    const { db, clock, log } = this.app
    const claimed = await claimCalendar(db, due, clock(due.owner_id)).catch((error) => {
      turn.giveBack()
      throw error
    })
    if (!claimed) {
      turn.giveBack()
      return
    }
    const { claim, owner_id, room_id, origin, next_read_at } = claimed
    const reading = readClaimed(this.app, claimed, { turns: this.turns, turn, accepts: false })
      // The claim ends by itself, so the calendar is due again. The address is not logged.
      .catch((error) => log.warn({ room: room_id, error: String(error) }, 'Cannot read a calendar'))
      .finally(() => {
        this.inProgress.delete(claim)
        this.claims.delete(claim)
        this.wake()
      })
    this.claims.set(claim, { claim, owner_id, room_id, origin, next_read_at })
    this.inProgress.set(claim, reading)
  }
}

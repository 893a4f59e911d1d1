import { withTrace } from '../../core/trace.ts'
import type { AppContext } from '../../http/context.ts'
import {
  claimCalendar,
  type DueCalendar,
  findDueCalendars,
  findNextDue,
  giveBackClaim,
} from '../../inventory/calendars/store.ts'
import type { Place } from '../../platform/outgoing/places.ts'
import { type OriginTurns, type Turn, unlimited } from '../../platform/outgoing/turns.ts'
import { withTimeoutOrNull } from '../../platform/time-limits.ts'
import { type ReadingContext, readClaimed } from './read-one.ts'
import { readingTurns, type TurnsContext } from './turns.ts'

/** Longest pause between two looks at what is due. Another process may have set an address, and read it within a minute. */
const maxPauseMilliseconds = 30_000
/** Pause while all that is due waits for a turn at its origin, or for a place. */
const busyPauseMilliseconds = 250
/** Pause after a look that failed, for example because the database does not respond. */
const failurePauseMilliseconds = 5000
/** Number of due calendars that one query returns. */
const lookedAtOnce = 8
/** Maximum number of origins without a free turn that one look passes over. */
const maxBusyOrigins = 100
/** Time that readings in progress have when the process stops. */
const stopMilliseconds = 5000

/**
 * Reads the calendars that are due, in every process that has time (decisions §31). A calendar is read by whoever claims
 * it first; if that process is killed, the claim ends and the calendar is due again. Without the claim, two processes
 * would read a file twice as often as its server was promised.
 *
 * ```text
 *   asleep ── woken, or the next is due ──▶ looking ── a place, a turn at the origin, and a claim ──▶ reading
 *     ▲                                       │  ▲                                              │
 *     └──────── nothing due, no turn ─────────┘  └──────────────── a reading has ended ─────────┘
 * ```
 */
export class CalendarReader {
  private readonly turns: OriginTurns
  private readonly inProgress = new Map<string, Promise<void>>()
  /** The claims of the readings in progress, to be given back if the process stops first. */
  private readonly claims = new Map<string, Parameters<typeof giveBackClaim>[1]>()
  private loop: Promise<void> | undefined
  private wakeUp = Promise.withResolvers<void>()
  private isStopped = false

  constructor(
    private readonly app: ReadingContext & TurnsContext & Pick<AppContext, 'log' | 'readingPlaces'>,
  ) {
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
    const { db, clock, clockWatch, readingPlaces } = this.app
    if (!clockWatch.isSound()) return failurePauseMilliseconds
    const busyOrigins = new Set<string>()
    while (this.mayBegin()) {
      const due = await findDueCalendars(db, clock(), {
        busyOrigins: [...busyOrigins, ...readingPlaces.fullOrigins()],
        busyHosts: readingPlaces.fullOwners(),
        limit: lookedAtOnce,
      })
      if (due.length === 0) break
      for (const calendar of due) {
        if (busyOrigins.has(calendar.origin)) continue
        const place = readingPlaces.take(calendar)
        if (!place) continue
        let isBegun = false
        try {
          const turn = await this.turnAt(calendar)
          if (turn) isBegun = await this.claimAndBegin(calendar, turn, place)
          else busyOrigins.add(calendar.origin)
        } finally {
          if (!isBegun) place.free()
        }
      }
      if (busyOrigins.size >= maxBusyOrigins) break
    }
    const isShareFull = readingPlaces.fullOwners().length > 0 || readingPlaces.fullOrigins().length > 0
    if (busyOrigins.size > 0 || isShareFull || !this.mayBegin()) return busyPauseMilliseconds
    const next = await findNextDue(db)
    if (next === null) return maxPauseMilliseconds
    return Math.max(0, Math.min(next.getTime() - clock().getTime(), maxPauseMilliseconds))
  }

  private mayBegin(): boolean {
    return !this.isStopped && this.app.readingPlaces.hasFree()
  }

  private async turnAt({ origin }: DueCalendar): Promise<Turn | null> {
    // An address that cannot be read has no origin. Its reading fails at once, without a request.
    if (origin === '') return unlimited
    const [turn] = await this.turns.take(origin, 1)
    return turn ?? null
  }

  /** Returns false if the calendar is not read by this process after all. */
  private async claimAndBegin(due: DueCalendar, turn: Turn, place: Place): Promise<boolean> {
    const { db, clock, log } = this.app
    const claimed = await claimCalendar(db, due, clock(due.owner_id)).catch((error) => {
      turn.giveBack()
      throw error
    })
    if (!claimed) {
      turn.giveBack()
      return false
    }
    const { claim, owner_id, room_id, next_read_at } = claimed
    const reading = readClaimed(this.app, claimed, { turns: this.turns, turn, accepts: false })
      // The claim ends by itself, so the calendar is due again. The address is not logged.
      .catch((error) => log.warn({ room: room_id, error: String(error) }, 'Cannot read a calendar'))
      .finally(() => {
        this.inProgress.delete(claim)
        this.claims.delete(claim)
        place.free()
        this.wake()
      })
    this.claims.set(claim, { claim, owner_id, room_id, next_read_at })
    this.inProgress.set(claim, reading)
    return true
  }
}

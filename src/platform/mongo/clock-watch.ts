import type { Logger } from 'pino'
import { maxSkewSeconds } from '../../core/clock.ts'
import type { Db } from './connection.ts'

const measureEveryMilliseconds = 5000

/** How far this machine's clock is ahead of the database's, in seconds; negative when it is behind. */
export async function measureSkew(db: Db): Promise<number> {
  const [least, most] = await boundsOfSkew(db, Date.now)
  return (least + most) / 2
}

/** The response was dated at some time between the request and its arrival: no more is known than that. */
async function boundsOfSkew(db: Db, wall: () => number): Promise<[least: number, most: number]> {
  const before = wall()
  const { localTime } = (await db.getClient().db('admin').command({ isMaster: 1 })) as { localTime: Date }
  return [(before - localTime.getTime()) / 1000, (wall() - localTime.getTime()) / 1000]
}

/** The clock of this process is off: another process, or this one later, can serve the request. */
export class ClockSkewError extends Error {
  override readonly name = 'ClockSkewError'
  constructor(skewSeconds: number) {
    super(`The clock of this process is ${skewSeconds.toFixed(0)} s off the database's: writes are refused`)
  }
}

/**
 * Compares the clock of this process with the database's at intervals. A step of the clock in between is noticed at
 * once, by comparison with the monotonic clock.
 */
export class ClockWatch {
  private skewSeconds = 0
  /** Wall clock minus monotonic clock at the time of the measurement. */
  private offset: number
  private isReported = false
  private readonly timer: ReturnType<typeof setInterval>

  constructor(
    private readonly db: Db,
    private readonly log: Logger,
    private readonly wall: () => number = Date.now,
  ) {
    this.offset = this.offsetNow()
    this.timer = setInterval(() => this.measure().catch(() => {}), measureEveryMilliseconds)
    this.timer.unref()
  }

  /**
   * Measures now. What was known stays as long as the measurement does not contradict it: on a busy machine a response takes
   * a second, and the clock by which processes agree would jump to and fro by half of it.
   */
  async measure(): Promise<void> {
    const [least, most] = await boundsOfSkew(this.db, this.wall)
    this.skewSeconds = Math.min(most, Math.max(least, this.skew()))
    this.offset = this.offsetNow()
    this.report()
  }

  /** True while the clock of this process is accurate enough to date what it writes. */
  isSound(): boolean {
    this.report()
    return Math.abs(this.skew()) <= maxSkewSeconds
  }

  /** What time it is for the database: what processes agree on among themselves goes by it, however their clocks differ. */
  databaseNow(): Date {
    return new Date(this.wall() - this.skew() * 1000)
  }

  /** @throws ClockSkewError unless {@link isSound} */
  requireSound(): void {
    if (!this.isSound()) throw new ClockSkewError(this.skew())
  }

  close(): void {
    clearInterval(this.timer)
  }

  private skew(): number {
    return this.skewSeconds + (this.offsetNow() - this.offset) / 1000
  }

  private offsetNow(): number {
    return this.wall() - performance.now()
  }

  private report(): void {
    const isOff = Math.abs(this.skew()) > maxSkewSeconds
    if (isOff === this.isReported) return
    this.isReported = isOff
    const skew_seconds = Math.round(this.skew())
    if (isOff) this.log.error({ skew_seconds }, "The clock differs from the database's: writes are refused")
    else this.log.info({ skew_seconds }, 'The clock agrees with the database again')
  }
}

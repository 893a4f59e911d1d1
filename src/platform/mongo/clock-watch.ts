import type { Logger } from 'pino'
import { maxSkewSeconds } from '../../core/clock.ts'
import type { Db } from './connection.ts'

const measureEveryMilliseconds = 5000

/** Measures how far this machine's clock is ahead of the database's, in seconds; negative if it is behind. */
export async function measureSkew(db: Db): Promise<number> {
  const [least, most] = await boundsOfSkew(db, Date.now)
  return (least + most) / 2
}

/** The part of a connection through which the server is asked for its time. */
interface ServerWithClock {
  getClient(): { db(name: string): { command(command: object): Promise<object> } }
}

/**
 * Returns the skew's lower and upper bounds in seconds. The exact skew is unknown, because the server reads its clock
 * at some point between the request and the response.
 */
async function boundsOfSkew(db: ServerWithClock, wall: () => number): Promise<[least: number, most: number]> {
  const before = wall()
  const { localTime } = (await db.getClient().db('admin').command({ isMaster: 1 })) as { localTime: Date }
  return [(before - localTime.getTime()) / 1000, (wall() - localTime.getTime()) / 1000]
}

/** Error thrown while this process's clock is wrong. Retrying later, or on another process, may succeed. */
export class ClockSkewError extends Error {
  override readonly name = 'ClockSkewError'
  constructor(skewSeconds: number) {
    super(`The clock of this process is ${skewSeconds.toFixed(0)} s off the database's: writes are refused`)
  }
}

/**
 * Compares this process's clock with the database's at regular intervals. Between measurements, a comparison with the
 * monotonic clock reveals any clock step immediately.
 */
export class ClockWatch {
  private skewSeconds = 0
  /** Wall clock minus monotonic clock at the last measurement, in milliseconds. */
  private offset: number
  private isReported = false
  private readonly timer: ReturnType<typeof setInterval>

  constructor(
    private readonly db: ServerWithClock,
    private readonly log: Logger,
    private readonly wall: () => number = Date.now,
  ) {
    this.offset = this.offsetNow()
    this.timer = setInterval(() => this.measure().catch(() => {}), measureEveryMilliseconds)
    this.timer.unref()
  }

  /**
   * Measures the skew and adjusts the known skew only as far as the measurement requires. Otherwise, on a busy machine
   * where a response takes a second, {@link databaseNow} would jump back and forth by half a second.
   */
  async measure(): Promise<void> {
    const [least, most] = await boundsOfSkew(this.db, this.wall)
    this.skewSeconds = Math.min(most, Math.max(least, this.skew()))
    this.offset = this.offsetNow()
    this.report()
  }

  /** True while this process's clock is accurate enough to date its writes. */
  isSound(): boolean {
    this.report()
    return Math.abs(this.skew()) <= maxSkewSeconds
  }

  /** Returns how many seconds this machine's clock is ahead of the database's; negative if it is behind. */
  skew(): number {
    return this.skewSeconds + (this.offsetNow() - this.offset) / 1000
  }

  /** Returns the database server's current time. Processes coordinate by it, because their own clocks may differ. */
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

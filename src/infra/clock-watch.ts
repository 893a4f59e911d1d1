import type { Logger } from 'pino'
import type { Db } from './mongo.ts'

/** A clock that is further off than this writes nothing (decisions §9). */
export const mostSkewSeconds = 60

const lookEveryMilliseconds = 5000

/** How far this machine's clock is ahead of the database's, in seconds; negative when it is behind. */
export async function measureSkew(db: Db, wall: () => number = Date.now): Promise<number> {
  const before = wall()
  const { localTime } = (await db.getClient().db('admin').command({ isMaster: 1 })) as { localTime: Date }
  return ((before + wall()) / 2 - localTime.getTime()) / 1000
}

/** The clock of this process is off, or not known yet: another process, or this one later, may do it. */
export class ClockSkewError extends Error {
  override readonly name = 'ClockSkewError'
  constructor(skewSeconds: number) {
    super(`The clock of this process is ${skewSeconds.toFixed(0)} s off the database's: nothing is written`)
  }
}

/**
 * Compares the clock of this process with the database's, again and again. A step of the clock in between is seen
 * at once, by the clock that never steps.
 */
export class ClockWatch {
  private skewSeconds = 0
  /** Wall clock less steady clock when it was measured. */
  private offset: number
  private isReported = false
  private readonly timer: ReturnType<typeof setInterval>

  constructor(
    private readonly db: Db,
    private readonly log: Logger,
    private readonly wall: () => number = Date.now,
  ) {
    this.offset = this.offsetNow()
    this.timer = setInterval(() => this.look().catch(() => {}), lookEveryMilliseconds)
    this.timer.unref()
  }

  /** Measures now. */
  async look(): Promise<void> {
    this.skewSeconds = await measureSkew(this.db, this.wall)
    this.offset = this.offsetNow()
    this.report()
  }

  /** True while what this process writes is rightly dated. */
  isSound(): boolean {
    this.report()
    return Math.abs(this.skew()) <= mostSkewSeconds
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
    const isOff = Math.abs(this.skew()) > mostSkewSeconds
    if (isOff === this.isReported) return
    this.isReported = isOff
    const skew_seconds = Math.round(this.skew())
    if (isOff) this.log.error({ skew_seconds }, "The clock is off the database's: nothing is written")
    else this.log.info({ skew_seconds }, 'The clock is right again')
  }
}

import type { Logger } from 'pino'

/** What a {@link BufferedWriter} collects, and how it writes it. */
interface Buffered<Batch> {
  /** How long something is collected at most before it is written. */
  milliseconds: number
  /** Returns an empty batch. */
  newBatch(): Batch
  /** Writes a batch. After a failure, the same batch is written again. */
  write(batch: Batch): Promise<void>
  log: Logger
  /** The message that is logged with the error of a failed write. */
  failureMessage: string
}

/**
 * Collects what may be written a little later, so that no request waits for a write and many changes share one. Without
 * it, what is noted while the database is unavailable would be lost.
 *
 * - A batch is written at the latest after the given time, when somebody asks for it, and at a shutdown.
 * - A batch that could not be written is kept unchanged and written again before anything else, so that a writer can
 *   recognize the parts that the failed attempt has stored.
 * - Writes never overlap, so at most two batches wait: the one being written, and the one being collected. What a batch
 *   may hold is limited by whoever adds to it.
 */
export class BufferedWriter<Batch> {
  private collected: Batch | undefined
  /** The batch that is being written, or whose write has failed. */
  private unwritten: Batch | undefined
  private lastWritten: Batch | undefined
  private writing: Promise<void> | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  private isClosed = false

  constructor(private readonly buffered: Buffered<Batch>) {}

  /** Returns the batch that is written next, to which the caller adds something at once. */
  next(): Batch {
    this.collected ??= this.buffered.newBatch()
    this.schedule()
    return this.collected
  }

  /**
   * Returns the batches, oldest first, that whoever has just read the database may not have seen: the last one written,
   * the one being written, and the one being collected.
   */
  recent(): Batch[] {
    return [this.lastWritten, this.unwritten, this.collected].filter((batch) => batch !== undefined)
  }

  /** Writes everything that was added before the call, or logs why it cannot. */
  async flush(): Promise<void> {
    // What was added after the current write began belongs to the next write.
    if (this.writing) await this.writing
    this.writing ??= this.write().finally(() => {
      this.writing = undefined
    })
    await this.writing
  }

  /** Makes a last attempt to write everything. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.flush()
  }

  private schedule(): void {
    if (this.timer || this.isClosed) return
    this.timer = setTimeout(() => this.flush(), this.buffered.milliseconds)
    this.timer.unref()
  }

  private async write(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    try {
      await this.writeUnwritten()
      this.unwritten = this.collected
      this.collected = undefined
      await this.writeUnwritten()
    } catch (error) {
      this.buffered.log.warn({ error: String(error) }, this.buffered.failureMessage)
      this.schedule()
    }
  }

  private async writeUnwritten(): Promise<void> {
    if (this.unwritten === undefined) return
    await this.buffered.write(this.unwritten)
    this.lastWritten = this.unwritten
    this.unwritten = undefined
  }
}

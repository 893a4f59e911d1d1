import type { Certifiable } from '../rig.ts'
import type { Habits, NextAction } from './habits.ts'
import { Reader } from './reader.ts'
import { Receiver } from './receiver.ts'
import { Site } from './site.ts'
import { Writer } from './writer.ts'

/** A reference integration, written by hand as partners write theirs. */
export class Product implements Certifiable {
  private readonly site: Site
  private readonly reader: Reader
  private readonly writer: Writer
  private readonly receiver: Receiver
  private work: Promise<void> | undefined

  constructor(base: string | (() => string), key: string, habits: Habits) {
    this.site = new Site(base, key, habits)
    this.reader = new Reader(this.site)
    this.writer = new Writer(this.site)
    this.receiver = new Receiver(this.site, () => this.reader.wake())
  }

  get stored() {
    return this.reader.stored
  }

  start(): void {
    if (!this.site.run.signal.aborted) return
    this.site.run = new AbortController()
    this.reader.recall()
    this.work = this.reader.loop(this.site.run.signal)
  }

  /** Abandons all work in progress, as SIGKILL does. */
  kill(): void {
    this.site.run.abort()
  }

  async close(): Promise<void> {
    this.kill()
    await this.receiver.close()
    await this.work
  }

  act(asked: NextAction): Promise<void> {
    return this.writer.act(asked)
  }

  register(...verifying: Parameters<Receiver['register']>): Promise<void> {
    return this.receiver.register(...verifying)
  }
}

import { createClient } from '../../../client/src/index.ts'
import type { NextAction, StoredBooking } from './product/habits.ts'
import type { Certifiable, verified } from './rig.ts'

/** A product that consists of the client's loop and a map. It has either a checkpoint or a consumer. */
export class ClientProduct implements Certifiable {
  readonly stored = new Map<number, StoredBooking>()
  private after: string | null = null
  private run = new AbortController()
  private work: Promise<void> | undefined

  constructor(
    private readonly baseUrl: string,
    private readonly key: string,
    private readonly isConsumer: boolean,
  ) {}

  start(): void {
    this.run = new AbortController()
    // The loop ends if its key is refused or the product crashes.
    this.work = this.follow(this.run.signal).catch(() => {})
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const client = createClient({ key: this.key, baseUrl: this.baseUrl, sandbox: true })
    const place = this.isConsumer ? { consumer: 'certified' } : { after: this.after }
    for await (const booking of client.bookings.feed({ ...place, wait: 30, signal })) {
      const { booking_id, status, checkin_at, checkout_at, version } = booking
      this.stored.set(booking_id, { booking_id, status, checkin_at, checkout_at })
      this.after = version
    }
  }

  kill(): void {
    this.run.abort()
  }

  async close(): Promise<void> {
    this.kill()
    await this.work
  }

  async act(_: NextAction): Promise<void> {}

  async register(_: typeof verified): Promise<void> {}
}

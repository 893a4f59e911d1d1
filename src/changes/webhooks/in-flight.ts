import type { WebhookDelivery } from './model.ts'

/** Tries at once for one endpoint (decisions §21). */
const maxInFlight = 10
/** Tries a second for one endpoint (decisions §21): a backlog does not become a flood. */
const maxPerSecond = 20

/** The tries that are being made for one endpoint: by this process, and what is left of the one that held it before. */
export class InFlight {
  private readonly own = new Map<string, { booking: number | null; done: Promise<void> }>()
  private others: (number | null)[] = []
  /** When the last tries began, oldest first. */
  private started: number[] = []
  /** Another process may still be trying what it began. */
  mayInherit = true

  /** How many tries of this process are being made. */
  get size(): number {
    return this.own.size
  }

  /** True while anybody is trying something. */
  get isBusy(): boolean {
    return this.own.size > 0 || this.mayInherit
  }

  /** @param done resolves when the try has ended and was taken out */
  add(name: string, booking: number | null, done: Promise<void>): void {
    this.started.push(performance.now())
    this.own.set(name, { booking, done })
  }

  has(name: string): boolean {
    return this.own.has(name)
  }

  delete(name: string): void {
    this.own.delete(name)
  }

  /** @param trying everything that is being tried of the endpoint, by whichever process */
  inherit(trying: Pick<WebhookDelivery, '_id' | 'booking_id'>[]): void {
    const others = trying.filter(({ _id }) => !this.own.has(String(_id)))
    this.others = others.map(({ booking_id }) => booking_id)
    this.mayInherit = others.length > 0
  }

  /** How many tries may begin now. */
  room(): number {
    const now = performance.now()
    this.started = this.started.filter((at) => at > now - 1000)
    return Math.min(maxInFlight - this.own.size - this.others.length, maxPerSecond - this.started.length)
  }

  /** The bookings that are being tried: at most one hint of each at once. */
  busyBookings(): number[] {
    return [...this.own.values()]
      .flatMap(({ booking }) => booking ?? [])
      .concat(this.others.flatMap((b) => b ?? []))
  }

  /** Resolves when the tries of this process have ended. */
  async ended(): Promise<void> {
    await Promise.all([...this.own.values()].map(({ done }) => done))
  }
}

import { sender } from './app.ts'

/** Statuses that a killed process or a missing primary may cause. Any other failure is an error in the request. */
const transient = ['no response', 409, 500]

type Send = (request: Request) => Promise<Response>

/**
 * Partners that create bookings without a pause, each booking with its own `Idempotency-Key`. Each request is repeated
 * unchanged until it is acknowledged.
 */
export class KeyedLoad {
  /** The booking id acknowledged for each key. */
  readonly acknowledged = new Map<string, number>()
  /** Number of times that each other outcome occurred. */
  readonly failures: Record<string, number> = {}
  lastSuccess = Date.now()
  private readonly send: Send
  private isOver = false
  private readonly writers: Promise<void>[]

  /**
   * @param pickUrl picks the process for the next request
   * @param body the body of every booking
   * @param options.writers the number of bookings that are created at the same time
   */
  constructor(
    private readonly pickUrl: () => string,
    private readonly key: string,
    private readonly body: object,
    { writers = 4, send = fetch }: { writers?: number; send?: Send } = {},
  ) {
    this.send = send
    this.writers = Array.from({ length: writers }, async (_, writer) => {
      for (let count = 0; !this.isOver; count += 1) await this.create(`load-${writer}-${count}`)
    })
  }

  private async create(idempotencyKey: string): Promise<void> {
    const headers = { 'idempotency-key': idempotencyKey }
    for (;;) {
      const response = await sender(this.send, this.pickUrl())('POST', '/v1/bookings', {
        key: this.key,
        body: this.body,
        headers,
      }).catch(() => null)
      if (response?.status === 201) {
        this.acknowledged.set(idempotencyKey, response.body.data.booking_id)
        this.lastSuccess = Date.now()
        return
      }
      const failure = response?.status ?? 'no response'
      if (!transient.includes(failure)) throw new Error(`${failure}: ${response?.text}`)
      this.failures[failure] = (this.failures[failure] ?? 0) + 1
      await Bun.sleep(100)
    }
  }

  /** Waits until a write that began after this call is acknowledged; returns the elapsed milliseconds. */
  async resumption(limitMilliseconds: number): Promise<number> {
    const start = Date.now()
    // A write acknowledged within the first 50 ms may have begun before the call.
    while (this.lastSuccess < start + 50) {
      if (Date.now() - start > limitMilliseconds) throw new Error(`No write for ${limitMilliseconds} ms`)
      await Bun.sleep(20)
    }
    return this.lastSuccess - start
  }

  /** Resolves once every key is acknowledged. */
  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.writers)
  }
}

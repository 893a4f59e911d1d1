import { sender } from './app.ts'

/** What a killed process or a missing primary may answer; everything else is a refusal of the request itself. */
const transient = ['no answer', 409, 500]

/**
 * Partners that create bookings without a pause, each under an `Idempotency-Key` of its own. What is not
 * acknowledged is sent again as it was, until it is.
 */
export class KeyedLoad {
  /** The booking id that each key was told. */
  readonly acknowledged = new Map<string, number>()
  /** How often each other answer came. */
  readonly failures: Record<string, number> = {}
  lastSuccess = Date.now()
  private isOver = false
  private readonly writers: Promise<void>[]

  /**
   * @param pickUrl the process that the next request goes to
   * @param body what each booking is made of
   */
  constructor(
    private readonly pickUrl: () => string,
    private readonly key: string,
    private readonly body: object,
    writers = 4,
  ) {
    this.writers = Array.from({ length: writers }, async (_, writer) => {
      for (let count = 0; !this.isOver; count += 1) await this.create(`load-${writer}-${count}`)
    })
  }

  private async create(idempotencyKey: string): Promise<void> {
    const headers = { 'idempotency-key': idempotencyKey }
    for (;;) {
      const answer = await sender(fetch, this.pickUrl())('POST', '/v1/bookings', {
        key: this.key,
        body: this.body,
        headers,
      }).catch(() => null)
      if (answer?.status === 201) {
        this.acknowledged.set(idempotencyKey, answer.body.data.booking_id)
        this.lastSuccess = Date.now()
        return
      }
      const failure = answer?.status ?? 'no answer'
      if (!transient.includes(failure)) throw new Error(`${failure}: ${answer?.text}`)
      this.failures[failure] = (this.failures[failure] ?? 0) + 1
      await Bun.sleep(100)
    }
  }

  /** Waits for a write that was begun after this moment and acknowledged; gives the milliseconds until then. */
  async resumption(limitMilliseconds: number): Promise<number> {
    const start = Date.now()
    // What was acknowledged in the first moment may have been written before it.
    while (this.lastSuccess < start + 50) {
      if (Date.now() - start > limitMilliseconds) throw new Error(`No write for ${limitMilliseconds} ms`)
      await Bun.sleep(20)
    }
    return this.lastSuccess - start
  }

  /** Ends after every key was acknowledged. */
  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.writers)
  }
}

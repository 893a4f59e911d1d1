/** One client in so many writes; the others send POSTs that are refused without touching the database. */
const writesEvery = 4
/** Leaves the machine some time to start processes beside the load. */
const pauseMilliseconds = 10

/** Clients that send POSTs one after the other, and none of them twice. */
export class UserLoad {
  /** Users that were acknowledged. */
  created = 0
  /** Requests that got the answer they should get. */
  answered = 0
  /** How often each other answer came. */
  readonly failures: Record<string, number> = {}
  slowestMilliseconds = 0
  private isOver = false
  private readonly clients: Promise<void>[]

  constructor(
    private readonly url: string,
    private readonly key: string,
    clients = 32,
  ) {
    this.clients = Array.from({ length: clients }, async (_, client) => {
      const isWriter = client % writesEvery === 0
      for (let count = 0; !this.isOver; count += 1) {
        await this.post(isWriter ? `c${client}-${count}@example.com` : '', isWriter ? 201 : 422)
        await Bun.sleep(pauseMilliseconds)
      }
    })
  }

  /** Ends after the last answer. */
  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.clients)
  }

  private async post(email: string, wanted: number): Promise<void> {
    const start = performance.now()
    const outcome = await fetch(`${this.url}/v1/users`, {
      method: 'POST',
      headers: { 'x-api-key': this.key, 'content-type': 'application/json' },
      body: JSON.stringify({ email, first_name: 'A', last_name: 'B' }),
    }).then(
      async (response) => (await response.text()) && response.status,
      (error) => String(error),
    )
    this.slowestMilliseconds = Math.max(this.slowestMilliseconds, performance.now() - start)
    if (outcome === wanted) this.answered += 1
    else this.failures[outcome] = (this.failures[outcome] ?? 0) + 1
    if (outcome === 201) this.created += 1
  }
}

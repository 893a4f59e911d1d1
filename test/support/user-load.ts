/** One in this many clients writes. The others send invalid POSTs, which never reach the database. */
const writesEvery = 4
/** A client's pause between two requests, which leaves the machine time to start processes during the load. */
const pauseMilliseconds = 10

/** Clients that each send one POST after another. Each valid POST creates a different user. */
export class UserLoad {
  /** Number of acknowledged users. */
  created = 0
  /** Number of times that each unexpected outcome occurred. */
  readonly failures: Record<string, number> = {}
  private isOver = false
  private readonly clients: Promise<void>[]

  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly send: (url: string, init: RequestInit) => Promise<Response> = fetch,
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

  /** Resolves after the last response. */
  async stop(): Promise<void> {
    this.isOver = true
    await Promise.all(this.clients)
  }

  private async post(email: string, wanted: number): Promise<void> {
    const outcome = await this.send(`${this.url}/v1/users`, {
      method: 'POST',
      headers: { 'x-api-key': this.key, 'content-type': 'application/json' },
      body: JSON.stringify({ email, first_name: 'A', last_name: 'B' }),
    }).then(
      async (response) => (await response.text()) && response.status,
      (error) => String(error),
    )
    if (outcome !== wanted) this.failures[outcome] = (this.failures[outcome] ?? 0) + 1
    if (outcome === 201) this.created += 1
  }
}

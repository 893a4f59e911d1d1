import { patiently, type Site } from './site.ts'

/** The endpoint that accepts hints. */
export class Receiver {
  private server: ReturnType<typeof Bun.serve> | undefined
  private readonly seen = new Set<string>()

  /** @param wake called for each accepted hint */
  constructor(
    private readonly site: Site,
    private readonly wake: () => void,
  ) {}

  /** Registers an endpoint that verifies the hints it receives. */
  async register(
    verify: (headers: Headers, body: string, secret: string) => Promise<unknown>,
  ): Promise<void> {
    let secret = ''
    this.server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async (request) => {
        const body = await request.text()
        const isWell = await verify(request.headers, body, secret).then(
          () => true,
          (error) => {
            const isOld = /too far from the current time/.test(String(error))
            return this.site.is(isOld ? 'takes-old' : 'takes-forged')
          },
        )
        if (!isWell) return new Response(null, { status: 400 })
        const id = request.headers.get('webhook-id') ?? ''
        if (this.site.is('refuses-doubled') && this.seen.has(id)) return new Response(null, { status: 409 })
        this.seen.add(id)
        if (this.site.is('slow-endpoint')) await Bun.sleep(1500)
        this.wake()
        return new Response()
      },
    })
    const url = `http://127.0.0.1:${this.server.port}/hook`
    secret = await patiently(() => this.secretOf(url))
  }

  /** Replaces any endpoint that a lost response may have left behind, and returns the new endpoint's secret. */
  private async secretOf(url: string): Promise<string> {
    const { body: page } = await this.site.send('GET', '/webhooks')
    for (const left of page.data.filter((endpoint: { url: string }) => endpoint.url === url))
      await this.site.send('DELETE', `/webhooks/${left.id}`)
    const { body } = await this.site.send('POST', '/webhooks', { url, events: ['booking.changed'] })
    return body.data.secret
  }

  async close(): Promise<void> {
    await this.server?.stop(true)
  }
}

/** A request that a partner's server received. */
export interface Received {
  headers: Record<string, string>
  body: string
  hint: {
    type: string
    timestamp: string
    data: {
      booking_id: number
      version: string
      message_id?: number
      /** Only in alarms. */
      alarm_id?: number
      code?: string
      webhook_id?: number
    }
  }
}

/** Starts a partner's server, which chooses its response to each hint based on the request. */
export function startReceiver(
  { onTestFinished }: { onTestFinished(stop: () => Promise<void>): void },
  respond: (received: Received, count: number) => Response | Promise<Response> = () => new Response(),
) {
  const received: Received[] = []
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text()
      const one = {
        headers: request.headers.toJSON() as Record<string, string>,
        body,
        hint: JSON.parse(body),
      }
      received.push(one)
      return respond(one, received.length)
    },
  })
  onTestFinished(() => receiver.stop(true))
  return { url: `http://127.0.0.1:${receiver.port}/hooks?of=me`, received }
}

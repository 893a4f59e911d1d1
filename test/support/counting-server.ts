import { afterAll } from 'vitest'

/**
 * Starts a server that no command under test may ask, until the file ends.
 *
 * @param status the status of its responses
 */
export function startCountingServer(status: number) {
  let asked = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch() {
      asked += 1
      return new Response(null, { status })
    },
  })
  afterAll(() => server.stop(true))
  return {
    url: server.url.origin,
    /** Returns the number of requests so far. */
    asked: () => asked,
  }
}

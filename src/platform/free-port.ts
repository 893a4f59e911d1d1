import { createServer } from 'node:net'

/** The wanted loopback port if it is free, otherwise any free one. */
export function freePort(wanted = 0): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', () => (wanted === 0 ? reject(new Error('No free port')) : resolve(freePort())))
    server.listen(wanted, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

import { connect, createServer, type Socket } from 'node:net'

/** A relay on loopback before a MongoDB or Redis server. */
export interface Relay {
  /** The address with which a process reaches the server through the relay only. */
  url: string
  /** The clients that are connected. */
  clients: ReadonlySet<Socket>
  stop(): void
}

/**
 * Starts a relay.
 *
 * @param url the server's connection string
 * @param relay passes on what a client and the server send; if either closes its connection, so does the other
 */
export async function startRelay(
  url: string,
  relay: (client: Socket, upstream: Socket) => void,
): Promise<Relay> {
  const target = new URL(url)
  const clients = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    clients.add(client)
    for (const socket of [client, upstream]) {
      // Otherwise, a small message might wait for the acknowledgement of the previous one.
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.on('close', () => {
        clients.delete(client)
        client.destroy()
        upstream.destroy()
      })
    }
    relay(client, upstream)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const through = new URL(url)
  through.port = String(port)
  if (through.protocol === 'mongodb:') {
    // A driver that discovers the replica set would connect to its member without the relay.
    through.searchParams.delete('replicaSet')
    through.searchParams.set('directConnection', 'true')
  }
  return {
    url: String(through),
    clients,
    stop() {
      for (const client of clients) client.destroy()
      server.close()
    },
  }
}

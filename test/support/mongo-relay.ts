import { connect, createServer, type Socket } from 'node:net'

/**
 * Starts a relay before a MongoDB server, which can treat connections as a server does that is killed.
 *
 * @param url the server's connection string
 */
export async function startMongoRelay(url: string) {
  const { hostname, port } = new URL(url)
  const clients = new Set<Socket>()
  let isDeaf = false
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    clients.add(client)
    client.on('data', (bytes) => void upstream.write(bytes))
    upstream.on('data', (bytes) => void client.write(bytes))
    for (const socket of [client, upstream]) {
      socket.on('error', () => {})
      socket.on('close', () => {
        clients.delete(client)
        client.destroy()
        upstream.destroy()
      })
    }
    if (isDeaf) client.pause()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address() as { port: number }
  const direct = new URL(url)
  direct.port = String(address.port)
  direct.searchParams.delete('replicaSet')
  direct.searchParams.set('directConnection', 'true')
  return {
    url: String(direct),
    /** Reads nothing more of what clients send. */
    goDeaf() {
      isDeaf = true
      for (const client of clients) client.pause()
    },
    /** Closes all connections, `reset` with a reset as the system does for a process that was killed. */
    breakAll(how: 'close' | 'reset') {
      for (const client of clients) how === 'reset' ? client.resetAndDestroy() : client.destroy()
    },
    stop: () => {
      for (const client of clients) client.destroy()
      server.close()
    },
  }
}

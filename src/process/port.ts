import type { Config } from '../core/config.ts'

/** Ends the process with a message that names the address. */
export function failToListen({ host, port }: Config, error: unknown): never {
  const place = host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`
  console.error(`Cannot listen on ${place}: ${(error as Error).message}`)
  process.exit(1)
}

/**
 * Exits if another program already serves the port. Workers share theirs, so they would not notice another service.
 *
 * It connects to the port rather than listening on it for a moment, because a proxy's request that arrived in that
 * moment would be lost.
 */
export async function requireFreePort(config: Config): Promise<void> {
  if (await isServed(config)) failToListen(config, new Error('Another program serves this port'))
}

async function isServed({ host, port }: Config): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: host, port, socket: { data() {} } })
    const { localPort } = socket
    socket.terminate()
    // The kernel may choose the same port for this end, and the connection then leads back to itself.
    return localPort !== port
  } catch {
    return false
  }
}

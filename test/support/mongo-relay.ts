import type { Socket } from 'node:net'
import { startRelay } from './relay.ts'

/**
 * Starts a relay before a MongoDB server, which can treat connections as a server does that is killed.
 *
 * @param url the server's connection string
 */
export async function startMongoRelay(url: string) {
  let isDeaf = false
  /** Clients whose connection passes nothing on, without being closed. */
  const silent = new Set<Socket>()
  /** Clients that have opened a change stream. */
  const streaming = new Set<Socket>()
  /** What the server has sent while its answers are held; null if they are not. */
  let held: { client: Socket; bytes: string | Buffer }[] | null = null
  const relay = await startRelay(url, (client, upstream) => {
    client.on('data', (bytes) => {
      if (bytes.includes('$changeStream')) streaming.add(client)
      if (!silent.has(client)) upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (silent.has(client)) return
      if (held) held.push({ client, bytes })
      else client.write(bytes)
    })
    client.on('close', () => streaming.delete(client))
    if (isDeaf) client.pause()
  })
  const { clients } = relay
  return {
    url: relay.url,
    /** Reads nothing more of what clients send. */
    goDeaf() {
      isDeaf = true
      for (const client of clients) client.pause()
    },
    /** Holds the server's answers back, until `release` is called. */
    hold() {
      held = []
    },
    /** True once an answer that contains this text is held. */
    holds: (text: string) => held?.some(({ bytes }) => bytes.includes(text)) ?? false,
    release() {
      const kept = held ?? []
      held = null
      for (const { client, bytes } of kept) client.write(bytes)
    },
    /** Passes on nothing more of the connections that have opened a change stream, and leaves them open. */
    silenceStreams() {
      for (const client of streaming) silent.add(client)
      return streaming.size
    },
    /** Closes all connections, `reset` with a reset as the system does for a process that was killed. */
    breakAll(how: 'close' | 'reset') {
      for (const client of clients) how === 'reset' ? client.resetAndDestroy() : client.destroy()
    },
    stop: relay.stop,
  }
}

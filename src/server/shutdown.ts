import type { Server } from 'bun'
import { findListener, type Listener } from '../platform/listener.ts'

/** New connections are still taken for this long, so that whoever looks at readiness sees the end coming. */
const noticeMilliseconds = 1000
/** A kept connection that nobody has used for this long is closed; by then proxies have used or dropped theirs. */
const quietMilliseconds = 2000
/** What is not answered by then, counted from the request to end, is cut off. */
const graceMilliseconds = 15_000
const lookEveryMilliseconds = 50

/** From the request to end, a process lives no longer than this. */
export const shutdownLimitMilliseconds = 18_500

/** Why a process ends. */
export type StopReason =
  /** It was told to. */
  | 'asked'
  /** Another process serves its port from now on. */
  | 'succeeded'

/**
 * Settles when this process is to end: by SIGTERM or SIGINT, because its supervisor says that a successor
 * listens, or because the supervisor itself is gone, however it ended. From then on signals change nothing.
 */
export function whenAskedToStop(isWorker: boolean): Promise<StopReason> {
  const { promise, resolve } = Promise.withResolvers<StopReason>()
  process.on('SIGTERM', () => resolve('asked'))
  process.on('SIGINT', () => resolve('asked'))
  if (!isWorker) return promise
  process.on('message', (message) => {
    if (typeof message === 'object' && message && 'retire' in message) resolve('succeeded')
  })
  process.on('disconnect', () => resolve('succeeded'))
  if (!process.connected) resolve('succeeded')
  return promise
}

/**
 * Ends a server without losing a request. Its responses must carry `Connection: close` by now: so every open
 * connection ends with its next response, and not with a request that meets a closed one.
 */
export async function drainServer(server: Server<unknown>, end: StopReason): Promise<void> {
  const graceEndsAt = Date.now() + graceMilliseconds
  const listener = findListener(server.port as number)
  if (end === 'asked') await Bun.sleep(noticeMilliseconds)
  await listener?.stopAccepting()
  await untilQuiet(listener, graceEndsAt)
  const answered = server.stop()
  await Promise.race([answered, Bun.sleep(graceEndsAt - Date.now())])
  await server.stop(true)
}

/** Every response ends a connection: as long as their number falls, they are in use. */
async function untilQuiet(listener: Listener | null, graceEndsAt: number): Promise<void> {
  let connections = Number.POSITIVE_INFINITY
  let quietAt = Date.now() + quietMilliseconds
  while (connections > 0 && Date.now() < Math.min(quietAt, graceEndsAt)) {
    const now = listener?.connections() ?? connections
    if (now !== connections) quietAt = Date.now() + quietMilliseconds
    connections = now
    await Bun.sleep(lookEveryMilliseconds)
  }
}

import type { Server } from 'bun'
import { findListener, type Listener } from '../platform/listener.ts'

/** How long new connections are still accepted, so that load balancers can notice that readiness fails. */
const noticeMilliseconds = 1000
/**
 * Connections are closed once this many checks in a row (2 s) have found the same number of them; by then, proxies have
 * stopped using them. Checks are counted rather than time, because a process that gets no processor for 2 s would
 * otherwise close connections whose requests it has not read.
 */
const quietLooks = 40
/** Requests still in progress this long after the process was told to stop are cut off. */
const graceMilliseconds = 15_000
const pollEveryMilliseconds = 50

/** Maximum time that a process keeps running after it was told to stop. */
export const shutdownLimitMilliseconds = 18_500

/** Why a process stops. */
export type StopReason =
  /** A signal told the process to stop, or its supervisor is gone. */
  | 'asked'
  /** A successor serves the port. */
  | 'replaced'

/**
 * Resolves when this process must stop: on SIGTERM or SIGINT, when its supervisor reports that a successor is
 * listening, or when the supervisor itself is gone. Later signals have no effect.
 */
export function whenAskedToStop(isWorker: boolean): Promise<StopReason> {
  const { promise, resolve } = Promise.withResolvers<StopReason>()
  process.on('SIGTERM', () => resolve('asked'))
  process.on('SIGINT', () => resolve('asked'))
  if (!isWorker) return promise
  process.on('message', (message) => {
    if (typeof message === 'object' && message && 'retire' in message) resolve('replaced')
  })
  process.on('disconnect', () => resolve('asked'))
  if (!process.connected) resolve('asked')
  return promise
}

/**
 * Stops a server without losing requests. The server's responses must already carry `Connection: close`, so that every
 * open connection ends with a response and no request is sent on a closed connection.
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

/**
 * Waits until no connections are left, the remaining ones are idle, or the grace period ends. Every response closes its
 * connection, so as long as the number of connections changes, some are still in use.
 */
async function untilQuiet(listener: Listener | null, graceEndsAt: number): Promise<void> {
  let connections = Number.POSITIVE_INFINITY
  let looks = 0
  while (connections > 0 && looks < quietLooks && Date.now() < graceEndsAt) {
    const now = listener?.connections() ?? connections
    looks = now === connections ? looks + 1 : 0
    connections = now
    await Bun.sleep(pollEveryMilliseconds)
  }
}

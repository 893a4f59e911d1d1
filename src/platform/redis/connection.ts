import { Cluster, Redis } from 'ioredis'
import type { RedisAddress } from '../../core/redis-address.ts'
import { hitScript, type RateLimitCommands, type SlotCommands, takeSlotScript } from './scripts.ts'

/** A client for a single Redis server or a cluster, with this service's scripts as commands. */
export type RedisClient = (Redis | Cluster) & RateLimitCommands & SlotCommands

const connectTimeoutMilliseconds = 1000
const reconnectAfterMilliseconds = 200
const retryNodeMilliseconds = 20
const reconnectAfter = () => reconnectAfterMilliseconds

/**
 * Creates a client without connecting it. Commands fail immediately while there is no connection.
 *
 * @param keyPrefix prefix of all keys, so that services can share one Redis
 */
export function redisClient(address: RedisAddress, keyPrefix: string): RedisClient {
  const { kind, nodes, masterName, sentinelPassword, db, username, password, tls } = address
  const login = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...(tls ? { tls } : {}),
    connectTimeout: connectTimeoutMilliseconds,
  }
  const common = {
    keyPrefix,
    lazyConnect: true,
    enableOfflineQueue: false,
    // Without automatic pipelining, which holds commands back until those before them have been answered.
    scripts: {
      hitWindow: { lua: hitScript, numberOfKeys: 2 },
      takeSlot: { lua: takeSlotScript, numberOfKeys: 1 },
    },
  }
  if (kind === 'cluster')
    return new Cluster(nodes, {
      ...common,
      redisOptions: login,
      // Host names are not resolved here, because certificates are checked against them.
      dnsLookup: (host, callback) => callback(null, host),
      slotsRefreshTimeout: connectTimeoutMilliseconds,
      clusterRetryStrategy: reconnectAfter,
      // The client connects to a node on first use, and commands fail until that connection is ready. Retries are
      // needed only to bridge this gap, because callers fall back to this process if a command fails.
      retryDelayOnFailover: retryNodeMilliseconds,
      maxRedirections: 5,
      retryDelayOnClusterDown: 0,
      retryDelayOnTryAgain: 0,
    }) as RedisClient
  const single = { ...login, ...common, maxRetriesPerRequest: 0, retryStrategy: reconnectAfter }
  if (kind === 'server') return new Redis({ ...single, ...nodes[0], db: db ?? 0 }) as RedisClient
  return new Redis({
    ...single,
    sentinels: nodes,
    name: masterName as string,
    sentinelRetryStrategy: reconnectAfter,
    ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
    ...(tls ? { sentinelTLS: tls, enableTLSForSentinelMode: true } : {}),
  }) as RedisClient
}

/** Returns true if the client is connected to only one node of a cluster and therefore cannot reach all keys. */
export async function isClusterNode(client: RedisClient): Promise<boolean> {
  if (client instanceof Cluster) return false
  // The account may lack permission to run INFO.
  const info = await client.info('server').catch(() => '')
  return /^redis_mode:cluster\s*$/m.test(info)
}

const evenlySpread = [378, 268, 158, 202, 12, 269, 89, 214, 244, 28, 239, 185, 252, 1, 238, 328]

/**
 * Returns the names of records to probe. In a cluster, the records' keys are spread evenly over the slots, one per
 * sixteenth of the slot range. If all of these keys can be written, so can any other key, unless the cluster has a very
 * large number of masters. Without a cluster, one record is enough.
 */
export function probedRecords(client: RedisClient): string[] {
  return client instanceof Cluster ? evenlySpread.map((number) => `probe${number}`) : ['probe']
}

import { Cluster, Redis } from 'ioredis'
import type { RedisAddress } from '../../core/redis-address.ts'
import { hitScript, type PlaceCommands, type RateLimitCommands, takeSlotScript } from './scripts.ts'

/** One Redis server, or a cluster of them, with the scripts of this service as commands. */
export type RedisClient = (Redis | Cluster) & RateLimitCommands & PlaceCommands

const connectTimeoutMilliseconds = 1000
const reconnectAfterMilliseconds = 200
const retryNodeMilliseconds = 20
const reconnectAfter = () => reconnectAfterMilliseconds

/** A client that is not connected yet; commands fail at once while it is not. Services may share one Redis by prefix. */
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
    scripts: {
      hitWindow: { lua: hitScript, numberOfKeys: 2 },
      takeSlot: { lua: takeSlotScript, numberOfKeys: 1 },
    },
  }
  if (kind === 'cluster')
    return new Cluster(nodes, {
      ...common,
      redisOptions: login,
      // Names are kept for the check of certificates.
      dnsLookup: (host, callback) => callback(null, host),
      slotsRefreshTimeout: connectTimeoutMilliseconds,
      clusterRetryStrategy: reconnectAfter,
      // A node is only connected to when it is first asked, and refuses what comes before it is ready. No longer than
      // that: the caller has a limiter of its own for what fails.
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

/** True for a single node of a cluster, which knows only a part of the keys. */
export async function isClusterNode(client: RedisClient): Promise<boolean> {
  if (client instanceof Cluster) return false
  // An account need not have the permission to ask.
  const info = await client.info('server').catch(() => '')
  return /^redis_mode:cluster\s*$/m.test(info)
}

const evenlySpread = [378, 268, 158, 202, 12, 269, 89, 214, 244, 28, 239, 185, 252, 1, 238, 328]

/**
 * Records whose keys are spread evenly over the slots of a cluster, one in each sixteenth: where all of them can be
 * written, so can everything else, unless a cluster has very many masters. One is enough elsewhere.
 */
export function probedRecords(client: RedisClient): string[] {
  return client instanceof Cluster ? evenlySpread.map((number) => `probe${number}`) : ['probe']
}

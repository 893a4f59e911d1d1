import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { killRedis, type RedisProcess, redisServer, startRedisProcess } from './redis.ts'

/** Milliseconds that a server must be silent before its replica replaces it. */
const failoverMilliseconds = 1000
const slots = 16_384

/** Real `redis-server` processes, some of which are replicas that can take over. */
export interface RedisGroup {
  url: string
  /** The address of one of the servers. */
  oneUrl: string
  /** Kills a master with SIGKILL. */
  killMaster(): Promise<void>
  stop(): Promise<void>
}

/** Starts a cluster of three masters, each with a replica. */
export async function startRedisCluster(): Promise<RedisGroup> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-redis-cluster-'))
  const nodes = await Promise.all(Array.from({ length: 6 }, (_, index) => startClusterNode(folder, index)))
  const masters = nodes.slice(0, 3) as [RedisProcess, RedisProcess, RedisProcess]
  const [first] = masters
  await Promise.all(
    masters.map(({ redis }, index) => {
      const [from, to] = [0, 1].map((step) => Math.floor(((index + step) * slots) / masters.length)) as [
        number,
        number,
      ]
      return redis.call('CLUSTER', 'ADDSLOTSRANGE', from, to - 1)
    }),
  )
  await Promise.all(nodes.map(({ redis }, index) => redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)))
  for (const { port } of nodes.slice(1))
    await first.redis.call('CLUSTER', 'MEET', '127.0.0.1', port, port + busOffset)
  await Promise.all(nodes.map(({ redis }) => untilInfo(redis, `cluster_known_nodes:${nodes.length}`)))
  for (const [index, { redis }] of nodes.slice(3).entries()) {
    const id = await (masters[index] as RedisProcess).redis.call('CLUSTER', 'MYID')
    await redis.call('CLUSTER', 'REPLICATE', String(id))
  }
  await Promise.all(nodes.map(({ redis }) => untilInfo(redis, 'cluster_state:ok')))
  for (const { redis } of nodes.slice(3))
    await until(async () => (await redis.info('replication')).includes('master_link_status:up'))
  return {
    url: `redis://${masters.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    oneUrl: `redis://127.0.0.1:${first.port}`,
    killMaster: () => killRedis(masters[1]),
    stop: () => stopAll(nodes, folder),
  }
}

/** A cluster node also listens on its port plus this offset. Redis refuses to start if that port is taken. */
const busOffset = 10_000

function startClusterNode(folder: string, index: number): Promise<RedisProcess> {
  const cluster = ['--cluster-enabled', 'yes', '--cluster-node-timeout', String(failoverMilliseconds)]
  return startNode(folder, [...cluster, '--cluster-config-file', `nodes-${index}.conf`])
}

/** Starts a master with a replica, and three sentinels that watch them. */
export async function startSentinels(): Promise<RedisGroup> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-redis-sentinels-'))
  const master = await startNode(folder)
  const replica = await startNode(folder, ['--replicaof', '127.0.0.1', String(master.port)])
  await until(async () => (await replica.redis.info('replication')).includes('master_link_status:up'))
  const sentinels = await Promise.all(
    [1, 2, 3].map((index) =>
      startRedisProcess(async (port) => {
        const file = join(folder, `sentinel-${index}.conf`)
        await Bun.write(
          file,
          `port ${port}
bind 127.0.0.1
dir ${folder}
sentinel monitor partner 127.0.0.1 ${master.port} 2
sentinel down-after-milliseconds partner ${failoverMilliseconds}
sentinel failover-timeout partner 3000
`,
        )
        return ['redis-server', file, '--sentinel']
      }),
    ),
  )
  // Each sentinel must know the others and the replica before it can take part in a failover.
  for (const { redis } of sentinels)
    await until(async () => (await redis.info('sentinel')).includes('slaves=1,sentinels=3'))
  const [{ port: onePort }] = sentinels as [RedisProcess]
  return {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/partner`,
    oneUrl: `redis+sentinel://127.0.0.1:${onePort}/partner`,
    killMaster: () => killRedis(master),
    stop: () => stopAll([master, replica, ...sentinels], folder),
  }
}

function startNode(folder: string, options: string[] = []): Promise<RedisProcess> {
  return startRedisProcess((port) => [...redisServer(port), '--dir', folder, ...options])
}

async function stopAll(nodes: RedisProcess[], folder: string): Promise<void> {
  await Promise.all(nodes.map(killRedis))
  await rm(folder, { recursive: true, force: true })
}

function untilInfo(redis: Redis, line: string): Promise<void> {
  return until(async () => String(await redis.call('CLUSTER', 'INFO')).includes(line))
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error('The servers of Redis did not settle')
    await Bun.sleep(50)
  }
}

import { Redis } from 'ioredis'
import { freePort } from '../../src/platform/process.ts'

export interface TestRedis {
  url: string
  pid: number
  stop(): Promise<void>
}

/** A Redis process that responds, and a connection to it that reconnects forever. */
export interface RedisProcess {
  port: number
  process: Bun.Subprocess
  redis: Redis
}

/**
 * Starts a separate `redis-server` that keeps nothing on disk.
 *
 * @param port the port to use if it is free
 * @param options more command-line arguments
 */
export async function startRedis(port?: number, options: string[] = []): Promise<TestRedis> {
  const server = await startRedisProcess((chosen) => [...redisServer(chosen), ...options], port)
  server.redis.disconnect()
  return {
    url: `redis://127.0.0.1:${server.port}`,
    pid: server.process.pid,
    stop: () => killRedis(server),
  }
}

interface TlsFiles {
  certificate: string
  key: string
  authority: string
}

/** Returns the options with which a Redis also listens with TLS, without asking clients for a certificate. */
export function redisTlsOptions(port: number, { certificate, key, authority }: TlsFiles): string[] {
  return [
    '--tls-port',
    String(port),
    '--tls-auth-clients',
    'no',
    '--tls-cert-file',
    certificate,
    '--tls-key-file',
    key,
    '--tls-ca-cert-file',
    authority,
  ]
}

/** Returns the command of a `redis-server` that keeps nothing on disk. */
export function redisServer(port: number): string[] {
  return ['redis-server', '--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
}

/**
 * Starts a Redis process and waits until it responds. If the process exits because another one took its port first, it
 * is started on another port.
 *
 * @param commandFor returns the command that listens on a port
 * @param wanted the port to use if it is free
 */
export async function startRedisProcess(
  commandFor: (port: number) => string[] | Promise<string[]>,
  wanted?: number,
): Promise<RedisProcess> {
  for (let attempt = 1; attempt <= 10; attempt += 1) {
    const port = await freePort(attempt === 1 ? wanted : undefined)
    const child = Bun.spawn(await commandFor(port), { stdout: 'ignore', stderr: 'ignore' })
    const redis = new Redis(port, {
      retryStrategy: () => 50,
      maxRetriesPerRequest: null,
      enableReadyCheck: false,
    })
    redis.on('error', () => {})
    // A server that requires a password responds as well.
    const responds = redis.ping().then(
      () => true,
      ({ message }) => /^NOAUTH/.test(message),
    )
    if (await Promise.race([responds, child.exited.then(() => false)])) return { port, process: child, redis }
    redis.disconnect()
    child.kill('SIGKILL')
  }
  throw new Error('No process of Redis stayed up')
}

export async function killRedis({ process, redis }: RedisProcess): Promise<void> {
  redis.disconnect()
  process.kill('SIGKILL')
  await process.exited
}

import { Redis } from 'ioredis'
import { freePort } from '../../src/platform/process.ts'

export interface TestRedis {
  url: string
  pid: number
  stop(): Promise<void>
}

/**
 * Starts a separate `redis-server` that keeps nothing on disk.
 *
 * @param options more command-line arguments
 */
export async function startRedis(port?: number, options: string[] = []): Promise<TestRedis> {
  const chosen = await freePort(port)
  const child = Bun.spawn(
    [
      'redis-server',
      '--port',
      String(chosen),
      '--bind',
      '127.0.0.1',
      '--save',
      '',
      '--appendonly',
      'no',
      ...options,
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  const url = `redis://127.0.0.1:${chosen}`
  await waitForResponse(url)
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

async function waitForResponse(url: string): Promise<void> {
  const redis = new Redis(url, {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
  })
  redis.on('error', () => {})
  // A server that requires a password responds as well.
  await redis.ping().catch((error) => {
    if (!/^NOAUTH/.test(error.message)) throw error
  })
  redis.disconnect()
}

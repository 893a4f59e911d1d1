import { Redis } from 'ioredis'
import { freePort } from '../../src/platform/free-port.ts'

export interface TestRedis {
  url: string
  pid: number
  stop(): Promise<void>
}

/**
 * Starts a `redis-server` of its own that keeps nothing on the disk.
 *
 * @param options more arguments of its command line
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
  await waitForAnswer(url)
  return {
    url,
    pid: child.pid,
    async stop() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

async function waitForAnswer(url: string): Promise<void> {
  const redis = new Redis(url, {
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
  })
  redis.on('error', () => {})
  // One that asks for a password answers too.
  await redis.ping().catch((error) => {
    if (!/^NOAUTH/.test(error.message)) throw error
  })
  redis.disconnect()
}

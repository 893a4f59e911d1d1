import { readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../src/platform/process.ts'
import { RedisRateLimiter } from '../../src/platform/redis/rate-limiter.ts'
import { shutdownLimitMilliseconds } from '../../src/process/shutdown.ts'
import { testEnvironment } from '../support/app.ts'
import { ownDatabase } from '../support/databases.ts'
import { settingNames } from '../support/environment.ts'
import { startService } from '../support/processes.ts'

/** Containers cannot run here, so these tests run what the containers would run. */
const read = (name: string) => readFile(new URL(`../../${name}`, import.meta.url), 'utf8')
const compose = Bun.YAML.parse(await read('compose.yaml')) as {
  services: Record<
    string,
    { command: string[]; environment: Record<string, string>; stop_grace_period: string }
  >
}
const { redis, service: composed } = compose.services as Required<typeof compose.services>

test('the Redis of compose.yaml grants its account exactly what the service needs, whatever the password', async () => {
  const password = `p@ss:w/ord,% "quoted" 'twice' \\ $HOME`
  const port = await freePort()
  const [, , script = ''] = redis?.command ?? []
  // In a Compose file, `$$` stands for one dollar sign.
  const command = script
    .replaceAll('$$', '$')
    .replace(/redis-server -$/, `exec redis-server - --port ${port} --bind 127.0.0.1`)
  const child = Bun.spawn(['sh', '-c', command], {
    env: { PATH: process.env.PATH ?? '', REDIS_PASSWORD: password },
    stdout: 'ignore',
  })
  onTestFinished(async () => {
    await Bun.$`redis-cli -p ${port} --user partner --pass ${password} --no-auth-warning shutdown`
      .quiet()
      .nothrow()
    await Bun.$`pkill -f ${`redis-server .*:${port}`}`.quiet().nothrow()
    await child.exited
  })
  await expect
    .poll(async () => (await Bun.$`redis-cli -p ${port} ping`.quiet().nothrow()).stdout.toString())
    .toMatch(/NOAUTH/)
  const url = (composed?.environment.REDIS_URL ?? '').replace('redis:6379', `127.0.0.1:${port}`)
  const login = url.replace('partner@', `partner:${encodeURIComponent(password)}@`)
  const limiter = await new RedisRateLimiter(login, 'partner').open()
  expect(await limiter.ready()).toBe(true)
  await limiter.invalidate('key:1')
  const place = await limiter.slots.take('a', 1, 1000)
  place?.free()
  await limiter.close()
  const { stdout } = await Bun.$`ps -eo args`.quiet()
  expect(stdout.toString()).not.toContain('p@ss:w')
})

test('the health check of the image reports whether the service is ready', async () => {
  const [, json = ''] = /HEALTHCHECK[^[]+CMD (\[.+\])/.exec(await read('Dockerfile')) ?? []
  const running = await startService(testEnvironment({ MONGODB_URL: await ownDatabase() }))
  const [, ...check] = JSON.parse(json) as string[]
  const env = { PORT: new URL(running.url).port }
  const run = () => Bun.spawn([process.execPath, ...check], { env, stderr: 'ignore' }).exited
  expect(await run()).toBe(0)
  await running.stop()
  expect(await run()).not.toBe(0)
})

test('compose.yaml sets only variables that the configuration reads, and leaves enough time to stop', () => {
  const read = settingNames()
  expect(Object.keys(composed?.environment ?? {}).filter((name) => !read.has(name))).toEqual([])
  const graceSeconds = Number.parseInt(composed?.stop_grace_period ?? '', 10)
  expect(graceSeconds).toBeGreaterThan(shutdownLimitMilliseconds / 1000)
})

test('the README names every variable that compose.yaml requires, and Redis does not run as root', async () => {
  const text = await read('compose.yaml')
  const required = new Set([...text.matchAll(/\$\{([A-Z_]+):\?/g)].map(([, name]) => name))
  const [, command = ''] = /`([^`]*) docker compose up --wait`/.exec(await read('README.md')) ?? []
  expect(command.split(/=…\s*/).filter(Boolean).sort()).toEqual([...required].sort())
  expect(redis).toMatchObject({ user: 'redis', cap_drop: ['ALL'], read_only: true })
})

import { readFile } from 'node:fs/promises'
import { expect, onTestFinished, test } from 'vitest'
import { updateKey } from '../../src/access/keys/store.ts'
import { freePort } from '../../src/platform/process.ts'
import { RedisRateLimiter } from '../../src/platform/redis/rate-limiter.ts'
import { shutdownLimitMilliseconds } from '../../src/process/shutdown.ts'
import { testApp, testEnvironment } from '../support/app.ts'
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

test.each(['1', '2'])(
  'the image serves IPv4 and IPv6 with WORKERS=%s, and an IPv4 client has its plain address',
  async (WORKERS) => {
    const [, HOST = ''] = /^ENV .*\bHOST=(\S+)/m.exec(await read('Dockerfile')) ?? []
    const MONGODB_URL = await ownDatabase()
    const settings = { MONGODB_URL, WORKERS, HOST, TRUSTED_PROXIES: '127.0.0.1,::1' }
    const running = await startService(testEnvironment({ ...settings, PUBLIC_URL: 'http://localhost' }))
    onTestFinished(() => running.stop())
    const { live, actor } = await testApp({ MONGODB_URL })
    const keyFor = async (network: string) => {
      const { key, keyId } = await actor()
      await updateKey(live.db, String(keyId), { allowed_from: [network] })
      return key
    }
    const allowed = await keyFor('203.0.113.7/32')
    const refused = await keyFor('203.0.113.8/32')
    const direct = await keyFor('127.0.0.1/32')
    const statusOf = async (address: string, key: string, headers = {}) =>
      (await fetch(`http://${address}:${port}/v1/me`, { headers: { 'x-api-key': key, ...headers } })).status
    const port = running.url.split(':').at(-1)
    const forwarded = { 'x-forwarded-for': '203.0.113.7' }
    for (const address of ['127.0.0.1', '[::1]'])
      expect({
        address,
        allowed: await statusOf(address, allowed, forwarded),
        refused: await statusOf(address, refused, forwarded),
      }).toEqual({ address, allowed: 200, refused: 403 })
    expect(await statusOf('127.0.0.1', direct)).toBe(200)
  },
)

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

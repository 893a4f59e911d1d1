import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/core/config.ts'
import { parseRedisUrl } from '../../src/core/redis-address.ts'
import { RedisRateLimiter } from '../../src/platform/redis/rate-limiter.ts'

const node = (host: string, port: number) => ({ host, port })

test.each([
  ['redis://localhost', { kind: 'server', nodes: [node('localhost', 6379)], db: 0 }],
  ['redis://:p%40ss%3Aw@h:7000/3', { kind: 'server', nodes: [node('h', 7000)], db: 3, password: 'p@ss:w' }],
  ['redis://me:a:b@h', { kind: 'server', nodes: [node('h', 6379)], db: 0, username: 'me', password: 'a:b' }],
  ['redis://me@[::1]:7000', { kind: 'server', nodes: [node('::1', 7000)], db: 0, username: 'me' }],
  [
    'rediss://a,b:7001,[::1]',
    { kind: 'cluster', nodes: [node('a', 6379), node('b', 7001), node('::1', 6379)], tls: {} },
  ],
  [
    'redis+sentinel://:x@a,b:1/main?sentinelPassword=y%26',
    {
      kind: 'sentinel',
      nodes: [node('a', 26379), node('b', 1)],
      masterName: 'main',
      password: 'x',
      sentinelPassword: 'y&',
    },
  ],
])('parseRedisUrl() reads %s', (url, expected) => {
  expect(parseRedisUrl(url)).toEqual(expected)
})

test.each([
  'redis://user:SeCret@part@h',
  'redis://user:abc?SeCret/1@redis:6379',
  'redis://user:SeCret/1@redis:6379',
  'redis://user:SeCret%zz@redis',
  'redis://:SeCret@h:0',
  'redis://:SeCret@h:99999',
  'redis://:SeCret@a,,b',
  'redis://:SeCret@a,b/2',
  'redis+sentinel://:SeCret@a',
  'rediss://:SeCret@a?tlsCAFile=/does/not/exist',
])('a setting of %s is refused in one line that shows nothing of its value', (REDIS_URL) => {
  let problems: string[] = []
  try {
    readConfig({ REDIS_URL })
  } catch (error) {
    problems = (error as ConfigError).problems
  }
  expect(problems).toEqual([expect.stringMatching(/^REDIS_URL (must|has|names) [^\n]+$/)])
  expect(problems.join()).not.toContain('SeCret')
})

test('a blank setting counts as unset, in production as well, and a password requires an address', () => {
  const blank = {
    NODE_ENV: 'production',
    MONGODB_URL: ' ',
    REDIS_URL: '',
    SECRET_KEY: '  ',
    REDIS_PASSWORD: 'x',
  }
  expect(() => readConfig(blank)).toThrow(ConfigError)
  try {
    readConfig(blank)
  } catch (error) {
    expect((error as ConfigError).problems).toEqual([
      'REDIS_PASSWORD must not be set without REDIS_URL',
      ...['MONGODB_URL', 'REDIS_URL', 'SECRET_KEY'].map(
        (name) => `${name} is required when NODE_ENV is "production"`,
      ),
    ])
  }
})

test('a service starts even if all of its sentinels are down', async () => {
  const limiter = await new RedisRateLimiter('redis+sentinel://127.0.0.1:1/main', 'away').open()
  expect(await limiter.ready()).toBe(false)
  expect((await limiter.hit('key:1', 1, 1000)).allowed).toBe(true)
  await limiter.close()
})

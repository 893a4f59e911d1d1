import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type ConfigError, readConfig, serversOf } from '../../src/core/config.ts'

const root = new URL('../..', import.meta.url)

test('the table of settings.md names exactly the existing settings', async () => {
  const read = new Set<string>()
  const environment = new Proxy({} as Record<string, string>, {
    get: (_, name: string) => {
      read.add(name)
      return undefined
    },
  })
  readConfig(environment)
  const page = await readFile(new URL('docs/settings.md', root), 'utf8')
  const table = page.split('\n## The command line of a partner')[0] ?? ''
  const rows = table.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name),
  )
  const files = /Each of (.*?) can be a file/s.exec(table)?.[1] ?? ''
  const inFiles = [...files.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => `${name}_FILE`)
  expect(inFiles.length).toBeGreaterThan(0)
  expect([...named, ...inFiles].sort()).toEqual([...read].sort())
})

/** Writes a file into a new folder and returns its path. */
async function fileWith(content: string | Buffer): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'setting-')), 'secret')
  await writeFile(path, content)
  return path
}

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment)
    return []
  } catch (error) {
    return (error as ConfigError).problems
  }
}

test('secrets are read from files without their last line end, and satisfy what production requires', async () => {
  const key = 'k'.repeat(32)
  const config = readConfig({
    NODE_ENV: 'production',
    SECRET_KEY: '',
    SECRET_KEY_FILE: await fileWith(`${key}\n`),
    OTHER_SECRET_KEYS_FILE: await fileWith(`${key}1,${key}2\r\n`),
    METRICS_TOKEN_FILE: await fileWith('t'.repeat(16)),
    MONGODB_URL_FILE: await fileWith('mongodb://someone@db/partner\n'),
    MONGODB_PASSWORD_FILE: await fileWith(' two\n\n'),
    REDIS_URL_FILE: await fileWith('redis://cache:6379\n'),
    REDIS_PASSWORD_FILE: await fileWith('one\n'),
  })
  expect(config).toMatchObject({
    secretKey: key,
    otherSecretKeys: [`${key}1`, `${key}2`],
    metricsToken: 't'.repeat(16),
    mongodbUrl: 'mongodb://someone:%20two%0A@db/partner',
    redisUrl: 'redis://:one@cache:6379',
  })
})

test('a file that is missing, empty, a folder or a pipe, or stands beside the plain setting, is refused in one line', async () => {
  const pipe = join(await mkdtemp(join(tmpdir(), 'setting-')), 'pipe')
  await Bun.$`mkfifo ${pipe}`
  const unreadable = 'must be the path of a readable file'
  expect(
    problemsOf({
      NODE_ENV: 'production',
      MONGODB_URL_FILE: '/nowhere/hunter2',
      REDIS_URL_FILE: tmpdir(),
      SECRET_KEY_FILE: await fileWith('\n \n'),
      METRICS_TOKEN: 'hunter2'.repeat(4),
      METRICS_TOKEN_FILE: await fileWith('hunter2'.repeat(3)),
      OTHER_SECRET_KEYS_FILE: pipe,
    }),
  ).toEqual([
    'SECRET_KEY_FILE must not be an empty file',
    `OTHER_SECRET_KEYS_FILE ${unreadable}`,
    'METRICS_TOKEN_FILE and METRICS_TOKEN must not both be set',
    `MONGODB_URL_FILE ${unreadable}`,
    `REDIS_URL_FILE ${unreadable}`,
  ])
  expect(problemsOf({ SECRET_KEY_FILE: await fileWith('hunter2') })).toEqual([
    'SECRET_KEY must have at least 32 characters',
  ])
})

test('a secret file with a byte order mark counts without it, and one that is not UTF-8 is refused', async () => {
  const secret = 'geheimer Schlüssel mit zweiunddreißig Zeichen'
  const bytesOf = async (bytes: Uint8Array) => {
    const path = await fileWith('')
    await writeFile(path, bytes)
    return path
  }
  const marked = await fileWith(`\ufeff${secret}\r\n`)
  expect(readConfig({ SECRET_KEY_FILE: marked }, []).secretKey).toBe(secret)
  for (const encoding of ['latin1', 'utf16le'] as const) {
    const path = await bytesOf(Buffer.from(secret, encoding))
    expect(problemsOf({ SECRET_KEY_FILE: path })).toEqual(['SECRET_KEY_FILE must be a file in UTF-8'])
  }
})

test('readConfig() names every invalid setting and shows none of the values', () => {
  const wrong = {
    PORT: 'x',
    WORKERS: '0',
    SECRET_KEY: 'short',
    OTHER_SECRET_KEYS: `${'x'.repeat(40)}, short`,
    REQUEST_IDS: 'maybe',
    MONGODB_URL: 'http://db',
  }
  const problems = problemsOf(wrong)
  expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual(Object.keys(wrong).sort())
  expect(problems.join()).not.toContain('short')
})

test('the standard switches of OpenTelemetry turn traces off, and what the service does not implement is refused', () => {
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
  const tracing = (more: object) => readConfig({ ...collector, ...more }).tracing
  expect(tracing({ OTEL_SDK_DISABLED: 'false', OTEL_TRACES_EXPORTER: 'otlp' })?.url).toBe(
    'http://collector:4318/v1/traces',
  )
  expect({
    disabled: tracing({ OTEL_SDK_DISABLED: 'true' }),
    withoutExporter: tracing({ OTEL_TRACES_EXPORTER: 'none' }),
  }).toEqual({ disabled: undefined, withoutExporter: undefined })
  const refused = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_SAMPLER: 'always_on' }
  expect(problemsOf({ ...collector, ...refused })).toEqual([
    'OTEL_EXPORTER_OTLP_PROTOCOL must be one of http/protobuf',
    'OTEL_TRACES_SAMPLER must be one of parentbased_traceidratio',
  ])
})

test('readConfig() reads several previous secrets and refuses a secret that could not be listed among them', () => {
  const one = '1'.repeat(32)
  const two = '2'.repeat(32)
  expect(readConfig({ OTHER_SECRET_KEYS: `${one}, ${two}` }).otherSecretKeys).toEqual([one, two])
  expect(readConfig({}).otherSecretKeys).toEqual([])
  expect(() => readConfig({ SECRET_KEY: `${one},${two}` })).toThrow('SECRET_KEY must not contain a comma')
})

test("the default data folder is the project's own, whatever folder a command is started in", async () => {
  const script = `import { readConfig } from '${root.pathname}src/core/config.ts'; console.log(readConfig({}).dataDir)`
  const child = Bun.spawn([process.execPath, '-e', script], { cwd: tmpdir(), stdout: 'pipe' })
  expect((await new Response(child.stdout).text()).trim()).toBe(join(root.pathname, 'data'))
})

test.each([
  [
    'mongodb://user:pa/ss@word@db1.example.com,db2.example.com/partner?replicaSet=rs0',
    'db1.example.com,db2.example.com',
  ],
  ['mongodb://db1.example.com:27017/partner', 'db1.example.com:27017'],
])('serversOf() shows no part of a password, even of one that is not percent-encoded', (url, servers) => {
  expect(serversOf(url)).toBe(servers)
})

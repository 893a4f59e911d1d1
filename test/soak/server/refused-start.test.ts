import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort } from '../../../src/platform/process.ts'
import { runService, startService } from '../../support/processes.ts'

test.concurrent('a start that its secret does not allow prints one line and leaves no database server behind', async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'partner-refused-'))
  const PORT = String(await freePort())
  const first = await startService({ DATA_DIR, PORT, SECRET_KEY: 'a'.repeat(40) })
  expect(await first.end('SIGTERM')).toBe(0)
  for (const settings of [{ SECRET_KEY: 'b'.repeat(40) }, {}, { SECRET_KEY: 'b'.repeat(40), WORKERS: '2' }]) {
    const { code, lines } = await runService({ DATA_DIR, PORT, LOG_LEVEL: 'warn', ...settings })
    expect({ code, lines }).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^Cannot start: .*SECRET_KEY/)],
    })
    const servers = await Bun.$`pgrep -f -- ${`--dbpath ${DATA_DIR}/`}`.quiet().nothrow()
    expect(servers.stdout.toString()).toBe('')
  }
  await rm(DATA_DIR, { recursive: true })
})

test.concurrent('a start with an unreachable database prints one line, with its address and without the password', async () => {
  const { code, lines } = await runService({
    PORT: String(await freePort()),
    MONGODB_URL: 'mongodb://partner:hunter2@127.0.0.1:1/partner',
  })
  expect({ code, lines }).toEqual({
    code: 1,
    lines: [expect.stringMatching(/^Cannot start: Cannot connect to MongoDB at 127\.0\.0\.1:1: /)],
  })
  expect(lines.join()).not.toContain('hunter2')
})

test.concurrent('src/main.ts requires both addresses and the secret in production', async () => {
  const { code, lines } = await runService({ NODE_ENV: 'production' })
  expect(code).toBe(2)
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['MONGODB_URL', 'REDIS_URL', 'SECRET_KEY'])
})

test.concurrent('src/main.ts exits 2 with one line for a secret that is missing from its file', async () => {
  const { code, lines } = await runService({ SECRET_KEY_FILE: '/nowhere/secret' })
  expect({ code, lines }).toEqual({ code: 2, lines: ['SECRET_KEY_FILE must be the path of a readable file'] })
})

import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sender } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { KeyedLoad } from '../../support/keyed-load.ts'
import { partnerctl, root, startService } from '../../support/processes.ts'

/** The section "Restore drill", from which this test runs the same commands that an operator copies. */
const operations = await readFile(join(root, 'docs/operations.md'), 'utf8')
const section = operations.split('### Restore drill')[1]?.split('\n### ')[0] ?? ''
const [embedded = '', ownServers = ''] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, sh]) => sh)
/** Production settings in the operator's shell, which must not affect the drill. */
const production = {
  REDIS_URL: 'redis://partner@127.0.0.1:1',
  REDIS_PASSWORD: 'x',
  MONGODB_PASSWORD_FILE: '/nowhere',
  NODE_ENV: 'production',
  TLS_CERT_FILE: '/nowhere',
}

async function runDrill(commands: string, settings: Record<string, string>) {
  const child = Bun.spawn(['bash', '-c', commands], {
    cwd: root,
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env.PATH ?? '', ...production, ...settings },
  })
  const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map((s) => new Response(s).text()))
  return { code: await child.exited, stdout: stdout as string, stderr: stderr as string }
}

test('the restore drill of docs/operations.md restores a backup beside the running service, and detects a broken backup', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-drill-'))
  const [data, backup, drill] = ['data', 'backup', 'drill'].map((name) => join(folder, name))
  const settings = { DATA_DIR: data as string, RATE_LIMIT_PER_MINUTE: '1000000' }
  const service = await startService(settings)
  onTestFinished(async () => {
    await service.end('SIGTERM')
    await rm(folder, { recursive: true, force: true })
  })
  const { key, user_id, listing_id } = JSON.parse((await partnerctl(['seed', '--json'], settings)).stdout)
  const stay = { user_id, listing_id, checkin_at: '2031-01-01', checkout_at: '2031-02-01' }
  const load = new KeyedLoad(() => service.url, key, stay, { writers: 2 })
  await load.resumption(10_000)
  const made = await partnerctl(['db', 'backup', backup as string], settings)
  expect(made).toMatchObject({ code: 0, stderr: '' })

  const places = { BACKUP: backup as string, DRILL: drill as string }
  const drilled = await runDrill(embedded, places)
  await load.stop()
  expect(drilled.code, drilled.stderr).toBe(0)
  const [, seconds] = /Restored in (\d+) s/.exec(drilled.stdout) ?? []
  console.log(`Restored in ${seconds} s`)
  expect(drilled.stdout).toContain('"status":"ready"')
  const { stdout } = await partnerctl(['hosts', 'list'], settings)
  expect(drilled.stdout).toContain(stdout)
  expect(drilled.stdout).toMatch(/db restore[\s\S]*db backup/)
  expect(existsSync(drill as string)).toBe(false)
  // The drill must not have affected the running service.
  expect(load.failures).toEqual({})
  const send = sender(fetch, service.url)
  expect((await send('GET', '/v1/me', { key })).status).toBe(200)

  await rm(join(backup as string, 'mongodb', 'WiredTiger.turtle'))
  const bad = await runDrill(embedded, places)
  expect(bad).toMatchObject({ code: 1, stdout: '' })
  expect(bad.stderr).toContain('is not complete')
})

test('the drill for other servers starts on the database of its address, and refuses one that is in use', async () => {
  const DRILL_URL = await ownDatabase()
  const service = await startService({ MONGODB_URL: DRILL_URL, RATE_LIMIT_PER_MINUTE: '1000000' })
  await partnerctl(['seed', '--json'], { MONGODB_URL: DRILL_URL })
  const inUse = await runDrill(ownServers, { DRILL_URL })
  expect(inUse).toMatchObject({ code: 1, stdout: '' })
  expect(inUse.stderr).toContain('nothing was changed')
  await service.end('SIGTERM')
  const drilled = await runDrill(ownServers, { DRILL_URL })
  expect(drilled.code, drilled.stderr).toBe(0)
  expect(drilled.stdout).toMatch(/"status":"ready"[\s\S]*Restored in \d+ s[\s\S]*db after-restore/)
})

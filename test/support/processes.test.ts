import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startService, stopServicesOn } from './processes.ts'

test('the services that a failed test has left on its database end with it, and no others', async () => {
  const main = join(await mkdtemp(join(tmpdir(), 'partner-processes-')), 'main.ts')
  await writeFile(main, 'Bun.serve({ port: Number(process.env.PORT), fetch: () => new Response() })')
  const on = (database: string) =>
    startService({ MONGODB_URL: `mongodb://127.0.0.1:1/${database}?directConnection=true` }, [], main)
  const left = await on('own_1')
  const other = await on('own_11')
  onTestFinished(() => other.stop())
  await stopServicesOn('own_1')
  expect(await left.exited).toBe(137)
  expect((await fetch(other.url)).status).toBe(200)
})

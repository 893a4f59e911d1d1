import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '../../support/app.ts'
import { root } from '../../support/processes.ts'

const service = await testApp()

test('the document passes a strict third-party linter', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-linter-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const document = (await service.send('GET', '/openapi.json')).text
  await writeFile(join(folder, 'openapi.json'), document)
  const lint = [
    'node_modules/.bin/redocly',
    'lint',
    '--config',
    'tools/lint/redocly.yaml',
    join(folder, 'openapi.json'),
  ]
  const child = Bun.spawn([process.execPath, '--bun', ...lint], {
    cwd: root,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  expect({ code: await child.exited, output }).toEqual({
    code: 0,
    output: expect.stringContaining('valid'),
  })
})

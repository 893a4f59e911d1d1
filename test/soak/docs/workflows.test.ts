import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sharedServices, testApp } from '../../support/app.ts'
import { root } from '../../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

/** Downloads the workflows, and the document that they reference, from the service into one folder. */
async function download(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-workflows-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of ['workflows.arazzo.yaml', 'openapi.json'])
    await Bun.write(join(folder, name), await fetch(`${server.url}/${name}`))
  await cp(join(root, 'tools/lint/redocly.yaml'), join(folder, 'redocly.yaml'))
  return folder
}

async function redocly(folder: string, args: string[], environment: Record<string, string> = {}) {
  const child = Bun.spawn(['node', join(root, 'node_modules/.bin/redocly'), ...args], {
    cwd: folder,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = (await new Response(child.stdout).text()) + (await new Response(child.stderr).text())
  return { code: await child.exited, output }
}

test('the workflows pass a strict third-party linter', async () => {
  const { code, output } = await redocly(await download(), ['lint', 'workflows.arazzo.yaml'])
  expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('valid') })
})

test("a third-party runner follows all workflows in a key's sandbox, and again", async () => {
  const { key } = await service.actor()
  const folder = await download()
  const args = ['respect', 'workflows.arazzo.yaml', '--server', `partners=${server.url}`]
  const input = { REDOCLY_CLI_RESPECT_INPUT: `api_key=${key}` }
  for (const _ of ['first', 'second']) {
    const { code, output } = await redocly(folder, args, input)
    expect(output).not.toContain('Failed tests info')
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringContaining('Workflows: 5 passed, 5 total'),
    })
    expect(output).not.toContain(key)
  }
})

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { afterAll, beforeAll, expect, test } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import { testEnvironment } from '../../support/app.ts'
import { pathOfNode } from '../../support/command-line.ts'
import { startService } from '../../support/processes.ts'

const service = await startService(testEnvironment())
const folder = await mkdtemp(join(tmpdir(), 'partner-managers-'))
// The projects must not lie in a folder that is itself a project.
const toolsProject = join(folder, 'tools')
const tools = join(toolsProject, 'node_modules')
const { version } = packageJson

beforeAll(async () => {
  await mkdir(toolsProject)
  await writeFile(join(toolsProject, 'package.json'), '{"private":true}')
  const wanted = ['npm@12', 'node@22', 'pnpm@12', 'yarn@1', '@yarnpkg/cli-dist@4', 'deno@2']
  const env = { ...process.env, PATH: pathOfNode }
  await $`npm install --no-audit --no-fund ${wanted}`.cwd(toolsProject).env(env).quiet()
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

/** The line that the guide gives for every package manager that reads `.npmrc`. */
const npmrc = { name: '.npmrc', text: `@partner-interface:registry=${service.url}/npm/\n` }

/** The lines that the guide gives for current Yarn, over plain HTTP. */
const yarnrc = {
  name: '.yarnrc.yml',
  text: `npmScopes:\n  partner-interface:\n    npmRegistryServer: ${service.url}/npm\nunsafeHttpWhitelist:\n  - 127.0.0.1\n`,
}

const newerNode = join(tools, 'node/bin/node')
const managers = [
  { name: 'npm 11', command: ['npm', 'install'], settings: npmrc },
  { name: 'npm 12', command: [newerNode, join(tools, 'npm/bin/npm-cli.js'), 'install'], settings: npmrc },
  { name: 'pnpm', command: [newerNode, join(tools, 'pnpm/bin/pnpm.mjs'), 'add'], settings: npmrc },
  { name: 'Yarn 1', command: ['node', join(tools, 'yarn/bin/yarn.js'), 'add'], settings: npmrc },
  { name: 'Bun', command: [process.execPath, 'add'], settings: npmrc },
  { name: 'Deno', command: [join(tools, '.bin/deno'), 'add'], prefix: 'npm:', settings: npmrc },
  {
    name: 'current Yarn',
    command: ['node', join(tools, '@yarnpkg/cli-dist/bin/yarn.js'), 'add'],
    run: ['node', join(tools, '@yarnpkg/cli-dist/bin/yarn.js'), 'node'],
    settings: yarnrc,
  },
]

/** A project with another dependency, and an empty home, so that only default settings apply. */
async function makeProject(name: string, settings: { name: string; text: string }) {
  const project = join(folder, name.replaceAll(' ', '-'))
  const home = join(project, 'home')
  await mkdir(home, { recursive: true })
  const manifest = { name: 'shop', private: true, type: 'module', dependencies: { 'is-number': '7.0.0' } }
  await writeFile(join(project, 'package.json'), JSON.stringify(manifest))
  await writeFile(join(project, settings.name), settings.text)
  const env = {
    ...process.env,
    PATH: `${join(tools, 'node/bin')}:${pathOfNode}`,
    HOME: home,
    XDG_CONFIG_HOME: home,
    XDG_CACHE_HOME: home,
    XDG_DATA_HOME: home,
  }
  return { project, env }
}

const program = `
import { createClient } from '@partner-interface/client'
import isNumber from 'is-number'
console.log(JSON.stringify({ client: typeof createClient, other: isNumber(5) }))
`

test.each(managers)(
  '$name installs both packages with its default settings, beside another dependency',
  async ({ name, command, prefix = '', run = ['node'], settings }) => {
    const { project, env } = await makeProject(name, settings)
    for (const wanted of ['client', 'partnerctl']) {
      const install = $`${command} ${`${prefix}@partner-interface/${wanted}`}`.cwd(project).env(env)
      const { exitCode, stdout, stderr } = await install.quiet().nothrow()
      expect({ exitCode, output: exitCode === 0 ? '' : `${stdout}${stderr}` }).toEqual({
        exitCode: 0,
        output: '',
      })
    }
    await writeFile(join(project, 'program.js'), program)
    const ran = await $`${run} program.js`.cwd(project).env(env).quiet().nothrow()
    expect(ran.stdout.toString()).toContain(JSON.stringify({ client: 'function', other: true }))
  },
)

test('npx runs the command line after one line of settings', async () => {
  const { project, env } = await makeProject('npx', npmrc)
  const { stdout } = await $`npx -y @partner-interface/partnerctl --version`.cwd(project).env(env).quiet()
  expect(stdout.toString().trim()).toBe(version)
})

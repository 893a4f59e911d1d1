import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { $ } from 'bun'
import { pathOfNode } from './command-line.ts'

/** A package manager with the commands that a partner types. */
export interface PackageManager {
  name: string
  /** Adds packages to a project. */
  add: string[]
  /** Installs exactly what the lock file says. */
  installLocked: string[]
  /** Name of the lock file. */
  lockFile: string
  /** What precedes a package's name. */
  prefix: string
  /** Runs a program of the project. */
  run: string[]
  /** Returns the file of settings that the guide gives for the registry at this address. */
  settings(url: string): { name: string; text: string }
}

/** The line that the guide gives for every package manager that reads `.npmrc`. */
const npmrc = (url: string) => ({ name: '.npmrc', text: `@partner-interface:registry=${url}/npm/\n` })

/** The lines that the guide gives for current Yarn, over plain HTTP. */
const yarnrc = (url: string) => ({
  name: '.yarnrc.yml',
  text: `npmScopes:\n  partner-interface:\n    npmRegistryServer: ${url}/npm\nunsafeHttpWhitelist:\n  - 127.0.0.1\n`,
})

/** Installs the package managers that the machine lacks, and returns all seven with functions for projects of theirs. */
export async function installPackageManagers() {
  const folder = await mkdtemp(join(tmpdir(), 'partner-managers-'))
  // The projects must not lie in a folder that is itself a project.
  const toolsProject = join(folder, 'tools')
  const tools = join(toolsProject, 'node_modules')
  await mkdir(toolsProject)
  await writeFile(join(toolsProject, 'package.json'), '{"private":true}')
  const wanted = ['npm@12', 'node@22', 'pnpm@12', 'yarn@1', '@yarnpkg/cli-dist@4', 'deno@2']
  await $`npm install --no-audit --no-fund ${wanted}`
    .cwd(toolsProject)
    .env({ ...process.env, PATH: pathOfNode })
    .quiet()
  const newerNode = join(tools, 'node/bin/node')
  const npm12 = [newerNode, join(tools, 'npm/bin/npm-cli.js')]
  const pnpm = [newerNode, join(tools, 'pnpm/bin/pnpm.mjs')]
  const yarn1 = ['node', join(tools, 'yarn/bin/yarn.js')]
  const yarn = ['node', join(tools, '@yarnpkg/cli-dist/bin/yarn.js')]
  const deno = [join(tools, '.bin/deno')]
  const usual = { prefix: '', run: ['node'], settings: npmrc }
  const managers: PackageManager[] = [
    {
      name: 'npm 11',
      ...usual,
      add: ['npm', 'install'],
      installLocked: ['npm', 'ci'],
      lockFile: 'package-lock.json',
    },
    {
      name: 'npm 12',
      ...usual,
      add: [...npm12, 'install'],
      installLocked: [...npm12, 'ci'],
      lockFile: 'package-lock.json',
    },
    {
      name: 'pnpm',
      ...usual,
      add: [...pnpm, 'add'],
      installLocked: [...pnpm, 'install', '--frozen-lockfile'],
      lockFile: 'pnpm-lock.yaml',
    },
    {
      name: 'Yarn 1',
      ...usual,
      add: [...yarn1, 'add'],
      installLocked: [...yarn1, 'install', '--frozen-lockfile'],
      lockFile: 'yarn.lock',
    },
    {
      name: 'Bun',
      ...usual,
      add: [process.execPath, 'add'],
      installLocked: [process.execPath, 'install', '--frozen-lockfile'],
      lockFile: 'bun.lock',
    },
    {
      name: 'Deno',
      ...usual,
      prefix: 'npm:',
      add: [...deno, 'add'],
      installLocked: [...deno, 'install', '--frozen'],
      lockFile: 'deno.lock',
    },
    {
      name: 'current Yarn',
      prefix: '',
      settings: yarnrc,
      add: [...yarn, 'add'],
      installLocked: [...yarn, 'install', '--immutable'],
      lockFile: 'yarn.lock',
      run: [...yarn, 'node'],
    },
  ]

  /**
   * Makes a project with an empty home, so that only default settings apply and nothing is cached.
   *
   * @param more further variables
   */
  async function makeProject(settings: { name: string; text: string }, more: Record<string, string> = {}) {
    const project = await mkdtemp(join(folder, 'project-'))
    const home = await mkdtemp(join(folder, 'home-'))
    await writeFile(join(project, 'package.json'), '{"name":"shop","private":true,"type":"module"}')
    await writeFile(join(project, settings.name), settings.text)
    // Otherwise, a project of current Yarn would be a part of the folder above that has a lock file.
    if (settings.name === '.yarnrc.yml') await writeFile(join(project, 'yarn.lock'), '')
    const env = {
      ...process.env,
      PATH: `${join(tools, 'node/bin')}:${pathOfNode}`,
      HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_CACHE_HOME: home,
      XDG_DATA_HOME: home,
      ...more,
    }
    /** Runs a command in the project; its output matters only if it failed. */
    const execute = async (command: string[]) => {
      const { exitCode, stdout, stderr } = await $`${command}`.cwd(project).env(env).quiet().nothrow()
      return { exitCode, output: exitCode === 0 ? '' : `${stdout}${stderr}`, stdout: stdout.toString() }
    }
    return { project, execute }
  }

  return { folder, managers, makeProject, tools }
}

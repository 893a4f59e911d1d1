import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { shutdownLimitMilliseconds } from '../../src/process/shutdown.ts'
import { settingNames } from '../support/environment.ts'
import { root } from '../support/processes.ts'

const shipped = await readFile(join(root, 'deploy/systemd/partner-api@.service'), 'utf8')
const unit = 'partner-api@3001.service'

/** Creates the root folder of a machine that has the unit installed, with everything that the unit needs. */
async function makeMachine(text: string): Promise<string> {
  const machine = await mkdtemp(join(tmpdir(), 'partner-systemd-'))
  onTestFinished(() => rm(machine, { recursive: true }))
  const units = join(machine, 'etc/systemd/system')
  await Bun.write(join(units, 'partner-api@.service'), text)
  for (const target of ['sysinit', 'basic', 'network-online', 'multi-user', 'shutdown'])
    await Bun.write(join(units, `${target}.target`), '[Unit]\nDescription=A target\n')
  for (const program of ['usr/local/bin/bun', 'bin/kill']) {
    await Bun.write(join(machine, program), '#!/bin/sh\n')
    await chmod(join(machine, program), 0o755)
  }
  return machine
}

/** Returns systemd's complaints about a unit. The exit code is no help, because it is 0 even for an unknown key. */
async function verify(text: string): Promise<string> {
  const machine = await makeMachine(text)
  const { stdout, stderr } = await Bun.$`systemd-analyze verify --root=${machine} ${unit}`.quiet().nothrow()
  return `${stdout}${stderr}`
}

const valuesOf = (key: string) =>
  [...shipped.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)

test('systemd has nothing to say about the unit, and would about an unknown key', async () => {
  expect(await verify(shipped)).toBe('')
  expect(await verify(shipped.replace('KillMode=', 'KillMood='))).toContain("Unknown key 'KillMood'")
})

test('systemd rates the exposure of the unit at 4.0 or less', async () => {
  const machine = await makeMachine(shipped)
  const { stdout } = await Bun.$`systemd-analyze security --offline=true --root=${machine} ${unit}`
    .quiet()
    .nothrow()
  const [, exposure] = /Overall exposure level for .*: (\d+\.\d)/.exec(stdout.toString()) ?? []
  expect(Number(exposure)).toBeLessThanOrEqual(4)
})

test('the unit sets only variables that the configuration reads, hands over secrets as files, and leaves time to stop', async () => {
  const read = settingNames()
  const variables = valuesOf('Environment').flatMap((value) =>
    value.split(' ').map((pair) => pair.split('=')),
  )
  expect(variables.map(([name]) => name).filter((name) => !read.has(name as string))).toEqual([])
  const credentials = valuesOf('LoadCredential').map((value) => value.split(':')[0])
  const files = variables.filter(([name]) => name?.endsWith('_FILE'))
  expect(files.map(([, path]) => path)).toEqual(credentials.map((name) => `%d/${name}`))
  expect(files.map(([name]) => name)).toEqual(credentials.map((name) => `${name?.toUpperCase()}_FILE`))
  expect(Number(valuesOf('TimeoutStopSec')[0])).toBeGreaterThan(shutdownLimitMilliseconds / 1000)
  // A setting in the file would take precedence over one in the unit.
  const readme = await readFile(join(root, 'deploy/README.md'), 'utf8')
  const [, pick = ''] = /^(grep .*) > \/etc\/partner-api\/settings$/m.exec(readme) ?? []
  const settings = (await Bun.$`sh -c ${pick}`.cwd(root).text()).matchAll(/^([A-Z_]+)=/gm)
  const names = [...settings].map(([, name]) => name as string)
  const set = variables.map(([name]) => name?.replace('_FILE', ''))
  expect(names).toContain('MONGODB_URL')
  expect(names.filter((name) => set.includes(name) || !read.has(name))).toEqual([])
  // Bun compiles JavaScript to machine code, which this setting would forbid.
  expect(valuesOf('MemoryDenyWriteExecute')).toEqual([])
})

import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { node, pathOfNode, servedFile } from '../support/command-line.ts'
import { startCountingServer } from '../support/counting-server.ts'
import { root, translated } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()
const actor = await service.actor()
await seedBooking(actor)
const file = await servedFile()

/** A folder with profiles wherever a path that is not absolute would lead to. */
const folder = await mkdtemp(join(tmpdir(), 'partner-no-home-'))
const thief = startCountingServer(401)
const profile = { base_url: thief.url, key: 'pis_planted', sandbox: false }
const planted = JSON.stringify({ current: 'default', profiles: { default: profile } })
for (const config of ['.config', 'relative', 'relative/.config', '.']) {
  await mkdir(join(folder, config, 'partnerctl'), { recursive: true })
  await writeFile(join(folder, config, 'partnerctl', 'profiles.json'), planted)
}

/** Names of all files in the folder, without Bun's own, which it keeps there if it knows of no home. */
async function filesInFolder(): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => !name.split('/').includes('.bun')).toSorted()
}

const before = await filesInFolder()

/** Runs the file that partners get, as a user without an account. */
async function runAs(program: string, args: string[], environment: Record<string, string>) {
  const child = Bun.spawn(['unshare', '--user', '--map-user=12345', program, file, ...args], {
    cwd: folder,
    env: { PATH: pathOfNode, ...translated, PARTNER_BASE_URL: server.url, ...environment },
    stdin: new Blob([actor.key]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

const key = { PARTNER_API_KEY: actor.key }
const homes: [name: string, environment: Record<string, string>][] = [
  ['no HOME', {}],
  ['an empty HOME', { HOME: '' }],
  ['a relative HOME', { HOME: 'relative', XDG_CONFIG_HOME: 'relative', XDG_STATE_HOME: 'relative' }],
  ['empty folders', { HOME: '', XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' }],
]

describe.each([
  ['Node', node],
  ['Bun', process.execPath],
])('in %s', (_, program) => {
  test.each(homes.slice(0, 2))(
    'without an account and with %s, everything that needs no file works',
    async (_, home) => {
      const state = join(await mkdtemp(join(tmpdir(), 'partner-no-home-')), 'state.json')
      for (const args of [
        ['guide'],
        ['completions', 'bash'],
        ['profiles', 'list'],
        ['me'],
        ['doctor'],
        ['api', 'GET', '/me'],
        ['feed', 'poll', '--once', '--state', state],
        ['feed', 'poll', '--once', '--consumer', 'homeless'],
      ]) {
        const { code, stderr } = await runAs(program, args, { ...home, ...key })
        expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
      }
    },
  )

  test.each(homes)('with %s, only what needs a file fails, and says what helps', async (_, home) => {
    const noProfiles =
      'There is no home folder to keep profiles in: set HOME or XDG_CONFIG_HOME to an absolute path\n'
    const noState =
      'There is no home folder to keep the checkpoint in: set HOME or XDG_STATE_HOME to an absolute path, name a file with --state, or let the service keep it with --consumer\n'
    for (const [args, message] of [
      [['login'], noProfiles],
      [['profiles', 'use', 'default'], noProfiles],
      [['me', '--profile', 'default'], noProfiles],
      [['feed', 'poll', '--once'], noState],
      [['messages', 'poll', '--once'], noState],
    ] as const) {
      const { code, stdout, stderr } = await runAs(program, [...args], { ...home, ...key })
      expect({ args, code, stdout, stderr }).toEqual({ args, code: 1, stdout: '', stderr: message })
    }
  })

  test.each(homes)('with %s, no profile of the current folder is read or written', async (_, home) => {
    const { code, stderr } = await runAs(program, ['me'], home)
    expect({ code, stderr: stderr.split('\n')[0], asked: thief.asked() }).toEqual({
      code: 2,
      stderr: 'No API key: run partnerctl login, set PARTNER_API_KEY, or use --key-file',
      asked: 0,
    })
    expect(await filesInFolder()).toEqual(before)
  })

  test('absolute folders are enough', async () => {
    const own = await mkdtemp(join(tmpdir(), 'partner-no-home-'))
    const folders = { XDG_CONFIG_HOME: own, XDG_STATE_HOME: own }
    for (const args of [['login'], ['me'], ['feed', 'poll', '--once'], ['profiles', 'remove', 'default']]) {
      const { code, stderr } = await runAs(program, args, folders)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    }
  })
})

test("an administrator's command works without an account and a home", async () => {
  const child = Bun.spawn(
    ['unshare', '--user', '--map-user=12345', join(root, 'bin/partnerctl'), 'hosts', 'list'],
    {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', DATA_DIR: join(folder, 'none') },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const stderr = await new Response(child.stderr).text()
  expect({ code: await child.exited, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('There is no database in'),
  })
})

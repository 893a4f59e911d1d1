import { access, mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { root } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

/** Runs `bin/partnerctl` in a folder. */
function runIn(folder: string, args: string[], environment: Record<string, string> = {}, stdin = '') {
  return run([join(root, 'bin/partnerctl'), ...args], folder, environment, stdin)
}

async function run(command: string[], folder: string, environment: Record<string, string> = {}, stdin = '') {
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...environment },
    stdin: new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

test('no file of the folder that partnerctl is started in runs, or changes whom it speaks to', async () => {
  const actor = await service.actor()
  const folder = await mkdtemp(join(tmpdir(), 'partner-folder-'))
  const config = await mkdtemp(join(tmpdir(), 'partner-config-'))
  const home = { XDG_CONFIG_HOME: config }
  let asked = 0
  const thief = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(String(++asked)) })
  expect((await runIn(folder, ['login', '--base-url', server.url], home, actor.key)).code).toBe(0)
  const planted = join(folder, 'planted')
  await writeFile(join(folder, 'evil.ts'), `await Bun.write(${JSON.stringify(planted)}, 'ran')\n`)
  await writeFile(join(folder, 'bunfig.toml'), 'preload = ["./evil.ts"]\n')
  const paths = JSON.stringify({ compilerOptions: { baseUrl: '.', paths: { '*': ['./evil.ts'] } } })
  for (const name of ['tsconfig.json', 'jsconfig.json']) await writeFile(join(folder, name), paths)
  const lines = `PARTNER_BASE_URL=${thief.url.origin}\nMONGODB_URL=mongodb://${thief.url.host}/\n`
  for (const name of ['.env', '.env.local', '.env.development', '.env.production'])
    await writeFile(join(folder, name), lines)
  expect((await runIn(folder, ['--version'], home)).code).toBe(0)
  expect(await runIn(folder, ['me'], home)).toMatchObject({ code: 0, stderr: '' })
  const hosts = await runIn(folder, ['hosts', 'list'], { ...home, DATA_DIR: join(folder, 'none') })
  expect(hosts.stderr).toContain('There is no database in')
  await expect(access(planted)).rejects.toThrow()
  expect(asked).toBe(0)
  await thief.stop(true)
})

test('paths are those of the folder that partnerctl is started in', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const folder = await mkdtemp(join(tmpdir(), 'partner-folder-'))
  await writeFile(join(folder, 'key.txt'), actor.key, { mode: 0o600 })
  const environment = { PARTNER_BASE_URL: server.url }
  expect((await runIn(folder, ['me', '--key-file', 'key.txt'], environment)).code).toBe(0)
  const polled = ['feed', 'poll', '--once', '--state', 'state', '--key-file', 'key.txt']
  expect((await runIn(folder, polled, environment)).code).toBe(0)
  await access(join(folder, 'state'))
})

test('partnerctl starts if its own folder comes first in the PATH', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-folder-'))
  const PATH = `${join(root, 'bin')}:${process.env.PATH}`
  expect(await runIn(folder, ['--version'], { PATH })).toMatchObject({ code: 0, stderr: '' })
})

/** Starting takes longer than most commands, and a program that the script runs first takes a tenth of that. */
test('no other program runs before Bun does', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-folder-'))
  await symlink(process.execPath, join(folder, 'bun'))
  expect(await runIn(folder, ['--version'], { PATH: folder })).toMatchObject({ code: 0, stderr: '' })
})

test.each([
  ['a link to the script', 'partnerctl', 'bin/partnerctl', '.'],
  ['a link to its folder', 'programs', 'bin', 'programs'],
  ['a link to the project', 'the project', '.', 'the project/bin'],
])('partnerctl starts by %s, and by its name alone', async (_, name, target, programs) => {
  const folder = await mkdtemp(join(tmpdir(), 'partner folder '))
  await symlink(join(root, target), join(folder, name))
  for (const command of [join(folder, programs, 'partnerctl'), `./${join(programs, 'partnerctl')}`]) {
    const ran = await run([command, '--version'], folder)
    expect({ command, ...ran }).toMatchObject({ code: 0, stderr: '' })
  }
  const own = { PATH: `${join(folder, programs)}:${process.env.PATH}` }
  expect(await run(['partnerctl', '--version'], folder, own)).toMatchObject({ code: 0, stderr: '' })
  expect(await run(['sh', 'partnerctl', '--version'], join(folder, programs))).toMatchObject({
    code: 0,
    stderr: '',
  })
})

test('a folder of CDPATH is not taken for the one of partnerctl', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'partner-folder-'))
  await mkdir(join(folder, 'bin'))
  const ran = await run(['bin/partnerctl', '--version'], root, { CDPATH: folder })
  expect(ran).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

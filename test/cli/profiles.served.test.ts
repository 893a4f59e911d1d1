import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { claimFile, FileClaimedError } from '../../cli/partner/file-claim.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { wellFormedKey } from '../support/keys.ts'
import { installation, partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

/** Returns a new home folder; the profiles belong in `file`. */
async function home() {
  const folder = await mkdtemp(join(tmpdir(), 'partner-home-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'partnerctl'))
  const environment = { XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder }
  return {
    folder,
    file: join(folder, 'partnerctl', 'profiles.json'),
    run: (args: string[], stdin?: string) =>
      partnerctl(args, { ...environment, PARTNER_BASE_URL: server.url }, stdin),
  }
}

test('twelve simultaneous logins leave twelve profiles', async () => {
  const { key } = await service.actor()
  const { run, file } = await home()
  const names = Array.from({ length: 12 }, (_, index) => `profile-${index}`)
  const logins = await Promise.all(names.map((name) => run(['login', '--profile', name], key)))
  const { profiles } = JSON.parse(await readFile(file, 'utf8'))
  expect({
    refused: logins.filter(({ code }) => code !== 0),
    profiles: Object.keys(profiles).toSorted(),
  }).toEqual({ refused: [], profiles: names.toSorted() })
})

test('changes of the current profile and removals that happen at once are all kept', async () => {
  const { key } = await service.actor()
  const { run, file } = await home()
  const profile = { base_url: server.url, key, sandbox: false }
  const names = ['a', 'b', 'c', 'd', 'e']
  const profiles = Object.fromEntries(names.map((name) => [name, profile]))
  await writeFile(file, JSON.stringify({ current: 'a', profiles }))
  const removals = ['b', 'c', 'd'].map((name) => run(['profiles', 'remove', name]))
  await Promise.all([...removals, run(['profiles', 'use', 'e'])])
  const left = JSON.parse(await readFile(file, 'utf8'))
  expect({ current: left.current, profiles: Object.keys(left.profiles) }).toEqual({
    current: 'e',
    profiles: ['a', 'e'],
  })
})

test('a file that is claimed is waited for, but no longer than the caller says', async () => {
  const { file } = await home()
  const claim = await claimFile(file)
  await expect(claimFile(file, 20)).rejects.toThrow(FileClaimedError)
  await claim.release()
  const next = await claimFile(file, 20)
  await next.release()
})

test('a profiles file that cannot be read is an error with its name and the reason, and no login replaces it', async () => {
  const { key } = await service.actor()
  const { run, file } = await home()
  // A link to itself can be read by nobody, not even by root.
  await symlink(file, file)
  const before = await readdir(join(file, '..'))
  for (const command of [['login'], ['profiles', 'list'], ['me'], ['profiles', 'remove', 'default']]) {
    const { code, stderr } = await run(command, key)
    expect({ command, code, stderr }).toEqual({
      command,
      code: 1,
      stderr: expect.stringContaining(`Cannot read the profiles in "${file}": too many symbolic links`),
    })
  }
  const after = await readdir(join(file, '..'))
  expect(after.filter((name) => !name.endsWith('.lock'))).toEqual(before)
})

test.each([
  '',
  'null',
  '[]',
  '{"current":"a"}',
  '{"current":1,"profiles":{}}',
  '{"current":null,"profiles":{"a":{"key":"k"}}}',
])('a file with the text %j is not a profiles file, and stays as it is', async (text) => {
  const { key } = await service.actor()
  const { run, file } = await home()
  await writeFile(file, text)
  const { code, stderr } = await run(['login'], key)
  expect({ code, stderr, text: await readFile(file, 'utf8') }).toEqual({
    code: 1,
    stderr: `"${file}" is not a profiles file; move it away, then log in again\n`,
    text,
  })
})

test('a folder that cannot keep profiles is named with the reason', async () => {
  const { key } = await service.actor()
  const { folder, file } = await home()
  await rm(join(folder, 'partnerctl'), { recursive: true })
  await writeFile(join(folder, 'partnerctl'), '')
  const environment = { XDG_CONFIG_HOME: folder, PARTNER_BASE_URL: server.url }
  const { code, stderr } = await partnerctl(['login'], environment, key)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(`^Cannot write the profiles in "${file}": [a-z ]+\n$`),
  })
})

test('a file named on the command line that cannot be read or written is named with the reason in words', async () => {
  const { folder } = await home()
  const environment = {
    XDG_CONFIG_HOME: folder,
    PARTNER_BASE_URL: server.url,
    PARTNER_API_KEY: wellFormedKey,
  }
  const missing = join(folder, 'missing')
  const receiver = ['--forward-to', 'http://127.0.0.1:9']
  for (const command of [
    ['me', '--key-file', missing],
    ['listen', ...receiver, '--secret-file', missing],
    ['api', 'POST', '/users', '--data', `@${missing}`],
    ['reconcile', '--against', missing],
    ['certify', 'verify', missing],
  ]) {
    const { code, stderr } = await partnerctl(command, environment)
    expect({ command, code, stderr: stderr.split('\n')[0] }).toEqual({
      command,
      code: 2,
      stderr: `Cannot read "${missing}": no such file or directory`,
    })
  }
})

test('a database folder that cannot be looked into is not told to be missing', async () => {
  const { folder } = await home()
  const data = join(folder, 'mongodb')
  await symlink(data, data)
  const { code, stderr } = await partnerctl(['hosts', 'list'], { DATA_DIR: folder }, undefined, installation)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`Cannot open the database in ${folder}: too many symbolic links`),
  })
})

test('a login through a symbolic link changes the file that the link leads to', async () => {
  const { key } = await service.actor()
  const { run, file, folder } = await home()
  const real = join(folder, 'real.json')
  await writeFile(real, JSON.stringify({ current: null, profiles: {} }))
  await symlink(real, file)
  await run(['login', '--profile', 'linked'], key)
  expect(Object.keys(JSON.parse(await readFile(real, 'utf8')).profiles)).toEqual(['linked'])
})

import { copyFile, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { adminCommands } from '../../cli/admin/commands.ts'
import { administratorsCommands } from '../../cli/partner/program.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { node, servedFile } from '../support/command-line.ts'
import { wellFormedKey } from '../support/keys.ts'
import { isSoak } from '../support/soak.ts'

const service = await testApp()
const [server] = sharedServices()
const file = await servedFile()
const runtimes = { Node: node, Bun: process.execPath }

/** Starts the file in a folder of its own, which has nothing else, not even in the folders above. */
async function start(
  runtime: keyof typeof runtimes,
  args: string[],
  environment: Record<string, string> = {},
) {
  const home = environment.HOME ?? (await mkdtemp(join(tmpdir(), 'partner-served-')))
  const program = join(home, 'partnerctl.mjs')
  await copyFile(file, program)
  const child = Bun.spawn([runtimes[runtime], program, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH ?? '', HOME: home, PARTNER_BASE_URL: server.url, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  return child
}

async function run(runtime: keyof typeof runtimes, args: string[], environment: Record<string, string> = {}) {
  const child = await start(runtime, args, environment)
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

test("the file knows every administrators' command by name, writes nothing for it, says where it belongs, and exits with 2", async () => {
  const names = [...Object.keys(adminCommands.commands), ...Object.keys(adminCommands.subcommands ?? {})]
  expect(administratorsCommands.toSorted()).toEqual(names.toSorted())
  for (const name of ['keys', 'requests top']) {
    const { code, stdout, stderr } = await run('Node', [...name.split(' '), '--help'])
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `"${name}" is an administrator's command; it belongs to the service's installation\n`,
    })
  }
})

test('help, completions and errors of usage of the file know the commands of partners only', async () => {
  const shown = await Promise.all(
    [
      ['--help'],
      ['completions', 'bash'],
      ['requests', 'list', '--help'],
      ['requests', 'list', '--admin'],
      ['nothing'],
    ].map((args) => run('Node', args, { PARTNER_API_KEY: wellFormedKey })),
  )
  expect(shown.map(({ code }) => code)).toEqual([0, 0, 0, 2, 2])
  for (const { stdout, stderr } of shown)
    expect(stdout + stderr).not.toMatch(/administrator|rotate|mint|MONGODB|--host\b/i)
  expect(shown[0]?.stdout).toContain('feed    Follow the booking feed')
})

test('the file is at most 2 MiB, names its version, and has the same bytes whenever it is made', async () => {
  const { size } = await stat(file)
  expect(size).toBeLessThan(2 * 1024 * 1024)
  expect(await readFile(await servedFile(), 'utf8')).toBe(await readFile(file, 'utf8'))
  for (const runtime of ['Node', 'Bun'] as const)
    expect(await run(runtime, ['--version'])).toEqual({
      code: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    })
})

test('the file prints the guide, and calls the service, without anything beside it', async () => {
  const { key } = await service.actor()
  for (const runtime of ['Node', 'Bun'] as const) {
    const chapter = await run(runtime, ['guide', 'safe-retries'])
    expect(chapter).toMatchObject({ code: 0, stdout: expect.stringMatching(/^# .*\n/), stderr: '' })
    const me = await run(runtime, ['me', '--json'], { PARTNER_API_KEY: key })
    expect(me).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(me.stdout)).toHaveProperty('email')
  }
})

test('one poll at a time uses a state file, whether in Node or in Bun, and a killed poll is no obstacle', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  // Longer than the path of a socket may be.
  const home = join(await mkdtemp(join(tmpdir(), 'partner-served-')), 'x'.repeat(100))
  await Bun.write(join(home, 'note'), '')
  const environment = { HOME: home, PARTNER_API_KEY: actor.key }
  const state = join(home, `${'state'.repeat(20)}.json`)
  const poll = ['feed', 'poll', '--state', state]
  const orders = [
    ['Node', 'Bun'],
    ['Bun', 'Node'],
  ] as const
  for (const [first, second] of isSoak ? orders : orders.slice(0, 1)) {
    const holder = await start(
      first,
      [...poll, '--since', '2020-01-01', '--exec', 'echo handled; sleep 20'],
      environment,
    )
    const { value } = await holder.stdout.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('handled\n')
    const refused = await run(second, [...poll, '--once'], environment)
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining(
        `Another poll (process ${holder.pid}) is using "${state}": stop it first`,
      ),
    })
    holder.kill('SIGKILL')
    await holder.exited
    // The handler outlives the poll, but must not hold its lock.
    expect(await run(second, [...poll, '--once', '--output', 'ndjson'], environment)).toMatchObject({
      code: 0,
      stderr: '',
    })
  }
  expect((await readdir(home)).filter((name) => name.startsWith('.lock'))).toEqual([])
})

test('partnerctl doctor warns if the service has another version, with the same exit code', async () => {
  const { key } = await service.actor()
  const text = await readFile(file, 'utf8')
  const older = join(await mkdtemp(join(tmpdir(), 'partner-served-')), 'partnerctl.mjs')
  await writeFile(older, text.replaceAll(`"${packageJson.version}"`, '"0.9.0"'))
  const versions = []
  for (const program of [file, older]) {
    const child = Bun.spawn([node, program, 'doctor', '--json'], {
      env: {
        PATH: process.env.PATH ?? '',
        HOME: '/nowhere',
        PARTNER_BASE_URL: server.url,
        PARTNER_API_KEY: key,
      },
      stdout: 'pipe',
    })
    const findings: { check: string; state: string; detail: string }[] = JSON.parse(
      await new Response(child.stdout).text(),
    )
    versions.push({ code: await child.exited, ...findings.find(({ check }) => check === 'version') })
  }
  const { version } = packageJson
  const metadata = await fetch(`${server.url}/npm/@partner-interface/partnerctl`)
  const served: string = (await metadata.json())['dist-tags'].latest
  expect(versions).toEqual([
    { code: 0, check: 'version', state: 'ok', detail: `${version}, the same as the service` },
    {
      code: 0,
      check: 'version',
      state: 'warning',
      detail: `this is 0.9.0, but the service has ${served}; get that one from ${server.url}/downloads/partnerctl.mjs`,
    },
  ])
})

test('partnerctl login asks for the key on a terminal, and never shows what is typed', async () => {
  const { key } = await service.actor()
  const tried = isSoak ? (['Node', 'Bun'] as const) : (['Node'] as const)
  for (const runtime of tried) {
    const home = await mkdtemp(join(tmpdir(), 'partner-served-'))
    const command = `"${runtimes[runtime]}" "${file}" login --base-url ${server.url}`
    const child = Bun.spawn(['script', '-qec', command, '/dev/null'], {
      env: { PATH: process.env.PATH ?? '', HOME: home, TERM: 'xterm' },
      stdin: 'pipe',
      stdout: 'pipe',
    })
    onTestFinished(() => child.kill('SIGKILL'))
    let screen = ''
    const reading = (async () => {
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        screen += text
        if (!screen.endsWith('API key: ')) continue
        child.stdin.write(`${key}\r`)
        child.stdin.flush()
      }
    })()
    expect(await child.exited).toBe(0)
    await reading
    const stored = JSON.parse(await readFile(join(home, '.config/partnerctl/profiles.json'), 'utf8'))
    expect({ isShown: screen.includes(key), key: stored.profiles.default.key }).toEqual({
      isShown: false,
      key,
    })
  }
})

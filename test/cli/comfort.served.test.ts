import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { program } from '../../cli/program.ts'
import { helpOf } from '../../cli/shared/program.ts'
import { partnerctlHere, partnerctlQuickly } from '../support/admin.ts'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { isServedFile } from '../support/command-line.ts'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

async function user() {
  const home = await mkdtemp(join(tmpdir(), 'partner-home-'))
  const environment = { XDG_CONFIG_HOME: home, XDG_STATE_HOME: home }
  return {
    home,
    run: (args: string[], stdin?: string, more: Record<string, string> = {}) =>
      partnerctl(args, { ...environment, ...more }, stdin),
    /** Logs in to the service that the tests share. */
    login: (args: string[], key: string) =>
      partnerctl(['login', ...args], { ...environment, PARTNER_BASE_URL: server.url }, key),
  }
}

test('partnerctl login stores a valid key in a 0600 file that the profiles commands use and never print', async () => {
  const actor = await service.actor()
  const { home, run, login } = await user()
  expect((await run(['me'])).code).toBe(2)
  expect((await login([], `${wellFormedKey}\n`)).code).toBe(4)
  expect((await login([], '\n')).code).toBe(2)
  const first = await login(['--json'], `${actor.key}\n`)
  expect(JSON.parse(first.stdout)).toEqual({
    profile: 'default',
    base_url: server.url,
    sandbox: false,
    host: 'Test host',
  })
  await login(['--profile', 'box', '--sandbox'], actor.key)
  const file = join(home, 'partnerctl', 'profiles.json')
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(await readFile(file, 'utf8')).toContain(actor.key)
  const list = await run(['profiles', 'list', '--json'])
  expect(JSON.parse(list.stdout)).toMatchObject([
    { name: 'default', current: false },
    { name: 'box', current: true },
  ])
  expect(list.stdout).not.toContain(actor.key)
  expect((await run(['api', 'GET', '/listings/2001'])).stdout).toContain('Sandbox House')
  await run(['profiles', 'use', 'default'])
  expect((await run(['api', 'GET', '/listings/2001'])).code).toBe(1)
  expect((await run(['api', 'GET', '/listings/2001', '--profile', 'box'])).code).toBe(0)
  await run(['profiles', 'remove', 'default'])
  expect((await run(['me'])).code).toBe(2)
  expect((await run(['me', '--profile', 'default'])).code).toBe(2)
})

test("a profile's key is only sent to the profile's own address, over https or on this machine", async () => {
  const actor = await service.actor()
  const { run, login, home } = await user()
  await login([], actor.key)
  let asked = 0
  const elsewhere = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(String(++asked)) })
  const address = elsewhere.url.origin
  for (const refused of [
    await run(['me'], undefined, { PARTNER_BASE_URL: address }),
    await run(['me', '--base-url', address]),
    await run(['me', '--profile', 'default', '--base-url', address]),
    await run(['me', '--profile', 'default'], undefined, {
      PARTNER_BASE_URL: address,
      PARTNER_API_KEY: wellFormedKey,
    }),
  ])
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`The key of the profile "default" is only sent to ${server.url}`),
    })
  expect(asked).toBe(0)
  // The profile's own address may be repeated, in any of its forms.
  expect((await run(['me', '--base-url', `${server.url}/v1/`])).code).toBe(0)
  const own = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
  expect((await run(['me'], undefined, own)).code).toBe(0)
  const plain = await run(['login', '--base-url', 'http://partners.example.com'], actor.key)
  expect(plain).toMatchObject({ code: 2, stderr: expect.stringContaining('must begin with https://') })
  const file = join(home, 'partnerctl', 'profiles.json')
  await writeFile(file, (await readFile(file, 'utf8')).replace(server.url, 'http://partners.example.com'))
  expect((await run(['me'])).code).toBe(2)
  await elsewhere.stop(true)
})

test('partnerctl doctor reports a healthy partner as healthy, and names each check that fails', async () => {
  const healthy = await service.actor()
  const blind = await service.actor({ permissions: ['listings.read'] })
  const check = async (key: string, base = server.url) => {
    const { code, stdout } = await partnerctl(['doctor', '--json'], {
      PARTNER_API_KEY: key,
      PARTNER_BASE_URL: base,
    })
    const findings = JSON.parse(stdout) as { check: string; state: string }[]
    return { code, findings: Object.fromEntries(findings.map(({ check: name, state }) => [name, state])) }
  }
  expect(await check(healthy.key)).toEqual({
    code: 0,
    findings: {
      reach: 'ok',
      key: 'ok',
      'users.read': 'ok',
      'users.write': 'ok',
      'bookings.read': 'ok',
      'bookings.write': 'ok',
      'listings.read': 'ok',
      'listings.write': 'ok',
      clock: 'ok',
      feed: 'ok',
      version: 'ok',
    },
  })
  expect(await check(blind.key)).toMatchObject({
    code: 1,
    findings: {
      key: 'ok',
      'listings.read': 'ok',
      'bookings.read': 'failed',
      'users.write': 'warning',
      feed: 'failed',
    },
  })
  expect(await check(wellFormedKey)).toEqual({ code: 4, findings: { key: 'failed' } })
  expect(await check(healthy.key, 'http://127.0.0.1:9')).toEqual({ code: 1, findings: { reach: 'failed' } })
})

test("partnerctl doctor shows how far this home directory's poll lags", async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const environment = {
    PARTNER_API_KEY: actor.key,
    PARTNER_BASE_URL: server.url,
    XDG_STATE_HOME: (await user()).home,
  }
  const feed = async () => {
    const { stdout } = await partnerctl(['doctor', '--json'], environment)
    return JSON.parse(stdout).find(({ check }: { check: string }) => check === 'feed').detail
  }
  expect(await feed()).toMatch(/^lag \d+ s: 1 changes in all: no poll has run here$/)
  await partnerctl(['feed', 'poll', '--once'], environment)
  expect(await feed()).toMatch(/^lag 0 s: 0 changes after the checkpoint \d{4}-/)
})

test('partnerctl feed show prints one booking in full, and every partner command takes --sandbox', async () => {
  const actor = await service.actor()
  const environment = {
    PARTNER_API_KEY: actor.key,
    PARTNER_BASE_URL: server.url,
    XDG_STATE_HOME: (await user()).home,
  }
  const show = await partnerctl(['feed', 'show', '5001', '--sandbox'], environment)
  expect(JSON.parse(show.stdout)).toMatchObject({
    booking_id: 5001,
    status: 'confirmed',
    guest: { name: 'Ana Sandbox' },
  })
  const codes: Record<string, number> = {}
  for (const command of ['me', 'doctor', 'feed poll --once', 'api GET /listings'])
    codes[command] = (await partnerctl([...command.split(' '), '--sandbox'], environment)).code
  expect(codes).toEqual({ me: 0, doctor: 0, 'feed poll --once': 0, 'api GET /listings': 0 })
  expect((await partnerctl(['feed', 'show', '999', '--sandbox'], environment)).code).toBe(1)
})

/** Returns the text that `--help` prints without a terminal. Starts no process, because there are many commands. */
const helpFor = async (path: string[]) =>
  stripVTControlCharacters(`${await helpOf(program, [...path, '--help'])}\n`)

/** Returns every command that the help lists and that can be run. */
async function commandsBelow(path: string[] = []): Promise<string[]> {
  const lists = [...(await helpFor(path)).matchAll(/COMMANDS.*\n\n([\s\S]*?)\n\n/g)].map(([, list]) => list)
  if (lists.length === 0) return [path.join(' ')]
  const lines = lists.join('\n').split('\n')
  // A group may be listed twice, because the help lists administrators' commands of partners' groups separately.
  const names = new Set(lines.map((line) => line.trim().split(/\s+/)[0] as string))
  return (await Promise.all([...names].map((name) => commandsBelow([...path, name])))).flat()
}

/** Returns the commands whose help does not list an option. */
async function commandsWithout(option: string): Promise<string[]> {
  const commands = await commandsBelow()
  const helps = await Promise.all(commands.map((command) => helpFor(command.split(' '))))
  return commands.filter((_, index) => !new RegExp(`^ +${option}\\b`, 'm').test(helps[index] as string))
}

test('the usage line of every command and group begins with partnerctl', async () => {
  const commands = await commandsBelow()
  const groups = commands.map((command) => command.split(' ').slice(0, -1).join(' ')).filter(Boolean)
  const paths = [...new Set([...commands, ...groups])]
  const helps = await Promise.all(paths.map((path) => helpFor(path.split(' '))))
  const wrong = paths.filter((path, index) => !helps[index]?.includes(`\nUSAGE partnerctl ${path} `))
  expect(wrong).toEqual([])
})

test('the help lists --json exactly for the commands that do not refuse it', async () => {
  expect((await commandsWithout('--json')).toSorted()).toEqual(['listen', 'mcp', 'requests tail'])
  for (const command of [['listen', '--forward-to', 'http://127.0.0.1:9'], ['mcp'], ['requests', 'tail']]) {
    const { code, stderr } = await partnerctlHere([...command, '--json'], {})
    expect({ command, code, stderr }).toEqual({
      command,
      code: 2,
      stderr: expect.stringMatching(/leave out --json|in place of --json/),
    })
  }
})

test('options of which one would be ignored cannot be used together', async () => {
  for (const [command, message] of [
    [['feed', 'poll', '--json', '--output', 'csv'], 'Options --json and --output cannot be used together'],
    [
      ['messages', 'poll', '--json', '--output', 'table'],
      'Options --json and --output cannot be used together',
    ],
    [
      ['feed', 'poll', '--exec', 'true', '--output', 'ndjson'],
      'Options --exec and --output cannot be used together',
    ],
    [['audit', 'list', '--json', '--output', 'ndjson'], 'Give either --output or --json'],
    [['trigger', '--count', '3'], 'Options --listing, --booking, --count and --checkin require a scenario'],
  ] as const) {
    const { code, stderr } = await partnerctlHere([...command], {})
    expect({ command, code, stderr: stderr.split('\n')[0] }).toEqual({ command, code: 2, stderr: message })
  }
})

test('partnerctl --help has the commands of partners apart from those of administrators', async () => {
  const help = await helpFor([])
  const [partners = '', administrators = ''] = help.split('ADMINISTRATOR COMMANDS')
  const listedIn = (part: string) =>
    ['feed', 'keys', 'sandbox', 'requests top'].filter((name) => new RegExp(`^ +${name} `, 'm').test(part))
  expect({ partners: listedIn(partners), administrators: listedIn(administrators) }).toEqual({
    partners: ['feed'],
    administrators: ['keys', 'sandbox', 'requests top'],
  })
})

test('partnerctl <command> --help shows examples of every command', async () => {
  const commands = await commandsBelow()
  expect(commands.length).toBeGreaterThan(30)
  const wrong: object[] = []
  for (const command of commands) {
    const help = await helpFor(command.split(' '))
    const hasExamples = new RegExp(`EXAMPLES\\n\\n(  .*partnerctl ${command}( .*)?\\n)+\\n?$`).test(help)
    if (!hasExamples) wrong.push({ command, help })
  }
  expect(wrong).toEqual([])
  const path = ['profiles', 'use']
  const { code, stdout } = await partnerctl([...path, '--help'], {})
  expect({ code, stdout }).toEqual({ code: 0, stdout: await helpFor(path) })
})

test.each(['bash', 'zsh', 'fish'])(
  'partnerctl completions %s knows the commands and options',
  async (shell) => {
    const { code, stdout } = await partnerctlQuickly(['completions', shell], {})
    expect(code).toBe(0)
    for (const word of ['poll', 'interval', ...(isServedFile ? [] : ['rotate'])])
      expect(stdout).toContain(word)
  },
)

test('partnerctl completions refuses another shell, prints JSON, and its script completes in bash', async () => {
  expect((await partnerctlQuickly(['completions', 'tcsh'], {})).code).toBe(2)
  const document = await partnerctlQuickly(['completions', 'bash', '--json'], {})
  expect(JSON.parse(document.stdout)).toMatchObject({
    shell: 'bash',
    script: expect.stringContaining('trigger'),
  })
  const { stdout: script } = await partnerctlQuickly(['completions', 'bash'], {})
  const asked = Bun.spawn(
    [
      'bash',
      '-c',
      `${script}\nCOMP_WORDS=(partnerctl profiles re); COMP_CWORD=2; _partnerctl; echo "\${COMPREPLY[@]}"`,
    ],
    { stdout: 'pipe' },
  )
  expect((await new Response(asked.stdout).text()).trim()).toBe('remove')
})

import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readReceipts } from '../../cli/admin/receipts.ts'
import { decodeText } from '../../cli/shared/utf8.ts'
import { sharedServices, testApp } from '../support/app.ts'
import { commandLine } from '../support/command-line.ts'
import { startCountingServer } from '../support/counting-server.ts'
import { wellFormedKey } from '../support/keys.ts'
import { root } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

const nobody = startCountingServer(500)

const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const latin1 = (text: string) => Buffer.from(text, 'latin1')
const text = '{"last_name": "später"}'

/** The same text as editors and shells of Windows write it, and the encoding that a message should name. */
const encodings: [name: string, bytes: Uint8Array, looksLike: string][] = [
  ['Latin-1', latin1(text), 'Latin-1 or Windows-1252'],
  ['UTF-16 with a mark', utf16(`\ufeff${text}`), 'UTF-16'],
  ['UTF-16 with the high byte first', utf16(`\ufeff${text}`).swap16(), 'UTF-16'],
  ['UTF-16 without a mark', utf16(text), 'UTF-16'],
  [
    'bytes of a picture',
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0xff, 0x01]),
    'binary data',
  ],
]

interface Run {
  environment?: Record<string, string>
  stdin?: Uint8Array
}

/** Runs a command with bytes for its standard input, and a key for a service that must not be asked. */
async function run(args: string[], { environment = {}, stdin = new Uint8Array() }: Run = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'partner-encodings-'))
  const child = Bun.spawn([...commandLine, ...args], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      PARTNER_BASE_URL: nobody.url,
      PARTNER_API_KEY: wellFormedKey,
      HOME: folder,
      ...environment,
    },
    stdin,
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { code: await child.exited, stdout, stderr }
}

async function fileOf(bytes: Uint8Array, mode = 0o600): Promise<string> {
  const file = join(await mkdtemp(join(tmpdir(), 'partner-encodings-')), 'file')
  await writeFile(file, bytes, { mode })
  return file
}

const receiver = ['--forward-to', 'http://127.0.0.1:9']

test.each(encodings)(
  'a file in %s is refused by its name before anything is sent',
  async (_, bytes, looksLike) => {
    const file = await fileOf(bytes)
    const good = await fileOf(Buffer.from('{}'))
    const issuer = ['--base-url', nobody.url]
    const commands = [
      ['api', 'POST', '/users', '--data', `@${file}`],
      ['reconcile', '--against', file],
      ['me', '--key-file', file],
      ['listen', ...receiver, '--secret-file', file],
      ['faults', 'set', file],
      ['certify', 'state', file],
      ['certify', 'verify', file, ...issuer],
      ['certify', 'verify', good, ...issuer, '--jwks', file],
    ]
    for (const command of commands) {
      const { code, stdout, stderr } = await run(command)
      expect({ command, code, stdout, stderr: stderr.split('\n')[0] }).toEqual({
        command,
        code: 2,
        stdout: '',
        stderr: `"${file}" is not UTF-8, but looks like ${looksLike}; save it as UTF-8`,
      })
    }
    expect(nobody.asked()).toBe(0)
    await expect(readReceipts(file)).rejects.toThrow(`"${file}" is not UTF-8, but looks like ${looksLike}`)
  },
)

test.each(encodings)(
  'standard input in %s is refused before anything is sent',
  async (_, bytes, looksLike) => {
    for (const command of [
      ['api', 'POST', '/users', '--data', '@-'],
      ['reconcile', '--against', '-'],
      ['faults', 'set', '-'],
      ['certify', 'state', '-'],
      ['login'],
    ]) {
      const { code, stdout, stderr } = await run(command, { stdin: bytes })
      expect({ command, code, stdout, stderr: stderr.split('\n')[0] }).toEqual({
        command,
        code: 2,
        stdout: '',
        stderr: `Standard input is not UTF-8, but looks like ${looksLike}; save it as UTF-8`,
      })
    }
    expect(nobody.asked()).toBe(0)
  },
)

test.each(encodings)(
  'profiles and a state file in %s are refused by their names',
  async (_, bytes, looksLike) => {
    const actor = await service.actor()
    const account = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
    const folder = await mkdtemp(join(tmpdir(), 'partner-encodings-'))
    await mkdir(join(folder, 'partnerctl'))
    const profiles = join(folder, 'partnerctl', 'profiles.json')
    await writeFile(profiles, bytes)
    const state = await fileOf(bytes)
    const withProfiles = await run(['me'], { environment: { ...account, XDG_CONFIG_HOME: folder } })
    const withState = await run(['feed', 'poll', '--once', '--state', state], { environment: account })
    const ofProfiles = { code: withProfiles.code, stderr: withProfiles.stderr.split('\n')[0] }
    const ofState = { code: withState.code, stderr: withState.stderr.split('\n')[0] }
    const refusal = (file: string) => `"${file}" is not UTF-8, but looks like ${looksLike}; save it as UTF-8`
    expect({ ofProfiles, ofState }).toEqual({
      ofProfiles: { code: 2, stderr: refusal(profiles) },
      ofState: { code: 2, stderr: refusal(state) },
    })
  },
)

test('a byte order mark and CRLF are fine, in files and on standard input', async () => {
  const actor = await service.actor()
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
  const user = { first_name: 'Łucja', last_name: 'Später', email: 'mark@example.com', language: 'pl' }
  const json = Buffer.from(`\ufeff${JSON.stringify(user, null, 2).replaceAll('\n', '\r\n')}\r\n`)
  const created = await run(['api', 'POST', '/users', '--data', '@-'], { environment, stdin: json })
  expect(created).toMatchObject({ code: 0, stderr: '' })
  const list = await run(['users', 'list', '--json'], { environment })
  expect(list.stdout).toContain('Später')
  const key = Buffer.from(`\ufeff${actor.key}\r\n`)
  const keyFile = await fileOf(key)
  const bookings = await fileOf(Buffer.from('\ufeffbooking_id,status,checkin_at,checkout_at\r\n'))
  const { PARTNER_API_KEY: _, ...withoutKey } = environment
  const address = { ...withoutKey, PARTNER_API_KEY: '' }
  const results = [
    await run(['me', '--key-file', keyFile], { environment: address }),
    await run(['login'], { environment: address, stdin: key }),
    await run(['reconcile', '--against', bookings], { environment }),
  ]
  expect(results.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
    { code: 0, stderr: '' },
    { code: 0, stderr: '' },
    { code: 0, stderr: '' },
  ])
})

test.each([
  ['', 'an empty text'],
  ['a', 'one letter'],
  ['state\n\0\0\0\0', 'zeros that a power failure left at the end of a file'],
  ['日本語', 'letters of three bytes'],
])('%j is UTF-8: %s', (sent) => {
  expect(decodeText(Buffer.from(sent), 'It')).toBe(sent)
})

import { expect, onTestFinished, test } from 'vitest'
import { administrator, adminJson, mintByCommand, partnerctlHere } from '../support/admin.ts'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { commandLine } from '../support/command-line.ts'
import { everyCommand, type Invocation, invocations, type Unprintable } from '../support/every-command.ts'
import { feedPoller } from '../support/feed-poller.ts'
import { root } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import { isSoak } from '../support/soak.ts'

const service = await testApp()
const [server] = sharedServices()

/** Runs a command in this process, with its standard output on a disk that is full. */
async function partnerctlOnFullDisk(args: string[], environment: Record<string, string>) {
  const { code, stderr } = await partnerctlHere(args, environment, '/dev/full')
  return { code, stderr }
}

const noSpace = 'Cannot write to standard output: no space left on device\n'

/** Runs a command whose standard output is redirected as in a shell, such as to `>/dev/full`. */
async function partnerctlTo(
  redirection: string,
  args: string[],
  environment: Record<string, string> = {},
  { stdin = '', keepsInput = false }: Pick<Invocation, 'stdin' | 'keepsInput'> = {},
) {
  const script = `exec "$@" ${redirection}`
  const child = Bun.spawn(['sh', '-c', script, 'sh', ...commandLine, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  child.stdin.write(stdin)
  if (keepsInput) child.stdin.flush()
  else child.stdin.end()
  onTestFinished(() => child.kill('SIGKILL'))
  const stderr = await new Response(child.stderr).text()
  return { code: await child.exited, stderr }
}

/**
 * Runs a command whose standard output is a pipe that nobody reads any more; returns its notes and its exit code.
 *
 * @param stdin text for standard input, which stays open
 */
async function partnerctlWithoutReader(
  args: string[],
  environment: Record<string, string> = {},
  stdin = '',
): Promise<string> {
  const script = '{ "$@"; echo "code $?" >&2; } | true'
  const child = Bun.spawn(['sh', '-c', script, 'sh', ...commandLine, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...environment },
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  child.stdin.write(stdin)
  child.stdin.flush()
  const notes = await new Response(child.stderr).text()
  child.stdin.end()
  return notes
}

/** Returns the first command of each group, such as `keys mint` of `keys`; the soak runs all commands. */
function tried(names: string[]): string[] {
  const groupOf = (name: string) => name.split(' ', 1).join()
  return names.filter((name) => isSoak || name === names.find((other) => groupOf(other) === groupOf(name)))
}

test('every command ends with exit code 1 and the reason if its output cannot be written', async (context) => {
  const actor = await service.actor()
  const other = await service.actor()
  const receiver = startReceiver(context)
  const commands = await everyCommand()
  const { environment, of } = await invocations(actor, other, receiver.url)
  expect(Object.keys(of).toSorted()).toEqual(commands.toSorted())
  const settings = { ...administrator(), ...environment, PARTNER_BASE_URL: server.url }
  const outcomes: Record<string, object> = {}
  const run = async (name: string, invocation: Invocation | Unprintable) => {
    if (typeof invocation === 'string') return partnerctlOnFullDisk([...name.split(' '), '--help'], settings)
    const { args = [], isAlone } = invocation
    const all = [...name.split(' '), ...args]
    return isAlone
      ? partnerctlTo('>/dev/full', all, settings, invocation)
      : partnerctlOnFullDisk(all, settings)
  }
  const names = tried(Object.keys(of))
  for (const name of names) {
    const { code, stderr } = await run(name, of[name] as Invocation | Unprintable)
    outcomes[name] = {
      code,
      hasReason: stderr.includes('no space left on device'),
      isTrace: /\n +at /.test(stderr),
    }
  }
  const expected = { code: 1, hasReason: true, isTrace: false }
  expect(outcomes).toEqual(Object.fromEntries(names.map((name) => [name, expected])))
})

test.each(['--help', '--version', 'guide safe-retries', 'completions bash'])(
  'partnerctl %s says in one line that its output cannot be written, and nothing if the reader has gone',
  async (command) => {
    const args = command.split(' ')
    expect(await partnerctlTo('>/dev/full', args)).toEqual({ code: 1, stderr: noSpace })
    expect(await partnerctlWithoutReader(args)).toBe('code 1\n')
  },
)

test('a command whose notes cannot be written ends with exit code 1', async () => {
  expect(await partnerctlTo('2>/dev/full', ['no-such-command'])).toEqual({ code: 1, stderr: '' })
})

test('only changes that were written count as handled', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const { state, run } = await feedPoller(actor, server.url)
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key }
  for (const output of ['table', 'ndjson', 'csv']) {
    const args = ['feed', 'poll', '--once', '--state', state, '--output', output]
    expect(await partnerctlTo('>/dev/full', args, environment)).toEqual({ code: 1, stderr: noSpace })
    expect(await partnerctlWithoutReader(args, environment)).toBe('code 1\n')
  }
  const json = ['feed', 'poll', '--once', '--state', state, '--json']
  expect(await partnerctlTo('>/dev/full', json, environment)).toEqual({ code: 1, stderr: noSpace })
  const { stdout } = await run('--once', '--output', 'ndjson')
  expect(JSON.parse(stdout)).toMatchObject({ booking_id })
})

test('an MCP server ends quietly with exit code 1 if its client has closed its end', async () => {
  const request = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })}\n`
  expect(await partnerctlWithoutReader(['mcp'], { PARTNER_BASE_URL: server.url }, request)).toBe('code 1\n')
})

test('a key that cannot be shown is revoked, and the audit says so', async () => {
  const { id: hostKey, host_id } = await mintByCommand()
  const mint = [
    'keys',
    'mint',
    '--host',
    String(host_id),
    '--name',
    'Unseen',
    '--permission',
    'bookings.read',
  ]
  const minted = await partnerctlOnFullDisk(mint, administrator())
  const keys = (await adminJson('keys', 'list', '--after', String(hostKey), '--limit', '1000')) as {
    id: number
    host_id: number
    status: string
  }[]
  const [unseen] = keys.filter((key) => key.host_id === host_id)
  expect(unseen).toMatchObject({ status: 'revoked' })
  expect(minted).toEqual({
    code: 1,
    stderr: `${noSpace.trim()}; the new key ${unseen?.id} was revoked\n`,
  })
  const audit = await adminJson('audit', 'list', '--limit', '200')
  expect(audit).toContainEqual(
    expect.objectContaining({
      action: 'keys revoke',
      target: `key ${unseen?.id}`,
      reason: 'It could not be shown',
    }),
  )
})

test('a rotation whose key cannot be shown leaves the previous secret as it was, and a rotation that is shown ends it', async () => {
  const { id, key } = await mintByCommand()
  const rotate = ['keys', 'rotate', String(id), '--overlap', '0s']
  const statusOf = async (apiKey: string) => (await service.send('GET', '/v1/me', { key: apiKey })).status
  const before = await adminJson('keys', 'show', String(id))
  expect(await partnerctlOnFullDisk(rotate, administrator())).toEqual({
    code: 1,
    stderr: `${noSpace.trim()}; the new secret of key ${id} was revoked\n`,
  })
  const after = await adminJson('keys', 'show', String(id))
  expect({ prefix: after.prefix, previous: after.previous }).toEqual({ prefix: before.prefix, previous: [] })
  expect(await statusOf(key)).toBe(200)
  const rotated = await adminJson(...rotate)
  expect({ previous: await statusOf(key), new: await statusOf(rotated.key) }).toEqual({
    previous: 401,
    new: 200,
  })
})

test('a demo key that cannot be shown is revoked', async () => {
  const { code, stderr } = await partnerctlOnFullDisk(['seed'], administrator())
  expect(code).toBe(1)
  const [, id = ''] = /^Cannot .*; the new key (\d+) was revoked\n$/.exec(stderr) ?? []
  expect(await adminJson('keys', 'show', id)).toMatchObject({ name: 'Demo key', status: 'revoked' })
})

test('partnerctl refuses to run with its standard output closed, which the runtime would replace with /dev/null', async () => {
  const child = Bun.spawn(['sh', '-c', 'exec bin/partnerctl --version >&-'], { cwd: root, stderr: 'pipe' })
  const stderr = await new Response(child.stderr).text()
  expect({ code: await child.exited, stderr }).toEqual({ code: 1, stderr: 'Standard output is closed\n' })
})

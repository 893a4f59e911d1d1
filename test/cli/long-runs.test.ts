import { chmod, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isNewer } from '../../cli/partner/newer-version.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { commandLine, node, servedFile } from '../support/command-line.ts'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl, root } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

/** Starts a command that runs until it is stopped; `notes()` returns its standard error so far. */
function start(command: readonly string[], environment: Record<string, string>) {
  const child = Bun.spawn([...command], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', PARTNER_BASE_URL: server.url, ...environment },
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  let text = ''
  const collect = (part: string) => {
    text += part
  }
  void child.stderr.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write: collect }))
  return { notes: () => text }
}

async function home(key: string) {
  const folder = await mkdtemp(join(tmpdir(), 'partner-runs-'))
  return { folder, environment: { HOME: folder, PARTNER_API_KEY: key, PARTNER_BASE_URL: server.url } }
}

test('a poll that follows the feed begins with one line that says which feed, and from where', async () => {
  const { key } = await service.actor()
  const { folder, environment } = await home(key)
  const follow = [...commandLine, 'feed', 'poll', '--follow', '--exec', 'true']
  const first = start(follow, environment)
  await expect.poll(first.notes).toBe(`Following the bookings of ${server.url}/v1 from the oldest change\n`)
  const later = start([...follow, '--since', '2020-01-01 00:00:00', '--state', join(folder, 'other')], {
    ...environment,
    XDG_STATE_HOME: environment.HOME,
  })
  await expect.poll(later.notes).toContain(`Following the bookings of ${server.url}/v1 after 2020-01-01`)
})

test('a handler that cannot be run is tried once, and the message says why', async () => {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const { folder, environment } = await home(actor.key)
  const handler = join(folder, 'handler')
  await writeFile(handler, '#!/bin/sh\n')
  await chmod(handler, 0o644)
  for (const [command, code] of [
    [handler, 126],
    ['no-such-handler', 127],
  ] as const) {
    const { stderr, ...run } = await partnerctl(['feed', 'poll', '--once', '--exec', command], environment)
    const lines = stderr.trim().split('\n')
    expect({ code: run.code, lines: lines.length }).toEqual({ code: 1, lines: 2 })
    expect(lines[1]).toMatch(
      `The command cannot be run (exit code ${code}) at booking ${booking_id}, version `,
    )
  }
})

test('a newer version of the service is named once, and nothing is said about the same or an older one', async () => {
  const { key } = await service.actor()
  const { folder, environment } = await home(key)
  const older = join(folder, 'partnerctl.mjs')
  const text = await readFile(await servedFile(), 'utf8')
  await writeFile(older, text.replaceAll(`"${packageJson.version}"`, '"0.9.0"'))
  const metadata = await fetch(`${server.url}/npm/@partner-interface/partnerctl`)
  // The version of a build that is not a release names the build (decisions §30).
  const { 'dist-tags': tags } = (await metadata.json()) as { 'dist-tags': { latest: string } }
  expect(tags.latest).toMatch(new RegExp(`^${packageJson.version}(-dev\\.|$)`))
  const said = `This is 0.9.0, but the service has ${tags.latest}; get that one from ${server.url}/downloads/partnerctl.mjs\n`
  const times = (notes: string) => notes.split(said).length - 1
  for (const args of [
    ['feed', 'poll', '--follow', '--exec', 'true'],
    ['listen', '--forward-to', 'http://127.0.0.1:9'],
    ['mcp'],
  ]) {
    const { notes } = start([node, older, ...args], environment)
    await expect.poll(() => times(notes())).toBe(1)
  }
  expect([
    isNewer('1.10.0', '1.9.9'),
    isNewer('1.0.0-dev.12345678', '1.0.0'),
    isNewer('1.0.0', '1.0.1'),
  ]).toEqual([true, false, false])
})

test.each([
  ['in quotes', `"${wellFormedKey}"`, 'is in quotes: leave them out'],
  [
    'with a word before it',
    `Bearer ${wellFormedKey}`,
    'has a word before it, such as "Bearer": leave it out',
  ],
  ['of another form', 'sk_live_1', 'is not complete or not a key'],
])('a key %s is refused before it is sent, and is not repeated', async (_, key, words) => {
  const file = join(await mkdtemp(join(tmpdir(), 'partner-key-')), 'key')
  await writeFile(file, `${key}\n`, { mode: 0o600 })
  // Nothing listens at this address, so a request would say that it was refused.
  const environment = { HOME: '/nowhere', PARTNER_BASE_URL: 'http://127.0.0.1:9' }
  const runs = [
    await partnerctl(['me'], { ...environment, PARTNER_API_KEY: key }),
    await partnerctl(['me', '--key-file', file], environment),
    await partnerctl(['login'], environment, key),
  ]
  for (const { code, stdout, stderr } of runs) {
    expect({ code, stdout, isRepeated: stderr.includes(key) }).toEqual({
      code: 2,
      stdout: '',
      isRepeated: false,
    })
    expect(stderr).toContain(words)
  }
})

test('a poll whose standard output is closed hands nothing over, and a list on a full disk gives one reason', async () => {
  const actor = await service.actor()
  await seedBooking(actor)
  const { environment } = await home(actor.key)
  const run = async (redirection: string, ...args: string[]) => {
    const child = Bun.spawn(['sh', '-c', `exec "$@" ${redirection}`, 'sh', ...commandLine, ...args], {
      cwd: root,
      env: { PATH: process.env.PATH ?? '', ...environment },
      stderr: 'pipe',
    })
    return { stderr: await new Response(child.stderr).text(), code: await child.exited }
  }
  expect(await run('>&-', 'feed', 'poll', '--once')).toEqual({
    code: 1,
    stderr: 'Standard output is closed or discards everything: nothing would read the changes\n',
  })
  expect(await run('>/dev/null', 'feed', 'poll', '--once')).toEqual({ code: 0, stderr: '' })
  await expect
    .poll(() => run('>/dev/full', 'requests', 'list', '--limit', '1'))
    .toEqual({ code: 1, stderr: 'Cannot write to standard output: no space left on device\n' })
})

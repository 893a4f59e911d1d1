import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { node, pathOfNode, servedFile } from '../support/command-line.ts'

const service = await testApp()
const [server] = sharedServices()
const actor = await service.actor()
await seedBooking(actor)
const file = await servedFile()
const home = await mkdtemp(join(tmpdir(), 'partner-windows-'))

const onWindows = 'Object.defineProperty(process, "platform", { value: "win32" })'

/** Runs the file that partners get in Node, which tells it that it runs on Windows. */
async function run(args: string[], environment: Record<string, string> = { PARTNER_API_KEY: actor.key }) {
  const child = Bun.spawn([node, '--import', `data:text/javascript,${onWindows}`, file, ...args], {
    env: { PATH: pathOfNode, HOME: home, PARTNER_BASE_URL: server.url, ...environment },
    stdin: new Blob([`${actor.key}\r\n`]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const stderr = await new Response(child.stderr).text()
  return { code: await child.exited, stderr }
}

test('on Windows, --exec says in one line that it needs WSL', async () => {
  for (const feed of ['feed', 'messages'])
    expect(await run([feed, 'poll', '--once', '--exec', 'true'])).toEqual({
      code: 1,
      stderr: 'Option --exec does not work on Windows itself: run partnerctl in WSL\n',
    })
})

test('on Windows, a poll without --exec, login and a key file work; the mode of a file means nothing there', async () => {
  const keyFile = join(home, 'key.txt')
  await writeFile(keyFile, `${actor.key}\r\n`, { mode: 0o666 })
  const done = { code: 0, stderr: '' }
  expect(await run(['feed', 'poll', '--once'])).toEqual(done)
  expect(await run(['login'], {})).toEqual(done)
  expect(await run(['me', '--key-file', keyFile], {})).toEqual(done)
})

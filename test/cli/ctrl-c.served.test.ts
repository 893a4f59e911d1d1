import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { seedBooking, sharedServices, testApp } from '../support/app.ts'
import { commandLine } from '../support/command-line.ts'
import { feedPoller } from '../support/feed-poller.ts'
import { root } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

/**
 * Runs a command on a terminal of its own. For each line on its standard input it presses Ctrl-C, or hangs up if the
 * line says so. Prints what the terminal shows, and ends with the command's exit code.
 */
const terminal = `
import os, pty, sys, threading
pid, screen = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
def press():
    for line in sys.stdin:
        if line.strip() == 'hang up': os.kill(pid, 1)
        else: os.write(screen, b'\\x03')
threading.Thread(target=press, daemon=True).start()
try:
    while True:
        os.write(1, os.read(screen, 4096))
except OSError:
    pass
_, status = os.waitpid(pid, 0)
os._exit(os.waitstatus_to_exitcode(status))
`

/** Polls that are killed after the file's tests, which wait side by side. */
const polls: Bun.Subprocess[] = []
afterAll(() => {
  for (const poll of polls) poll.kill('SIGKILL')
})

/** Starts a poll of two changes on a terminal, with a handler that logs what happens to it. */
async function pollOnTerminal(handler: (log: string, go: string) => string) {
  const actor = await service.actor()
  const { user_id, listing_id, room_type_id } = await seedBooking(actor)
  const body = { user_id, listing_id, room_type_id, checkin_at: '2030-01-01', checkout_at: '2030-01-05' }
  expect((await actor.send('POST', '/v1/bookings', { body })).status).toBe(201)
  const { home, state, run } = await feedPoller(actor, server.url)
  const log = join(home, 'log')
  const go = join(home, 'go')
  const poll = ['feed', 'poll', '--state', state, '--exec', handler(log, go)]
  const child = Bun.spawn(['python3', '-c', terminal, ...commandLine, ...poll], {
    cwd: root,
    env: {
      PATH: process.env.PATH ?? '',
      PARTNER_BASE_URL: server.url,
      PARTNER_API_KEY: actor.key,
      XDG_STATE_HOME: home,
    },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  })
  polls.push(child)
  let screen = ''
  const show = (text: string) => {
    screen += text
  }
  void child.stdout.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write: show }))
  const press = (what: 'Ctrl-C' | 'hang up') => {
    child.stdin.write(`${what}\n`)
    child.stdin.flush()
  }
  const logged = () => readFile(log, 'utf8').catch(() => '')
  return {
    child,
    press,
    screen: () => screen,
    logged,
    letGo: () => writeFile(go, ''),
    /** Returns how many changes are left to hand over. */
    async left() {
      const { stdout } = await run('--once', '--output', 'ndjson')
      return stdout.split('\n').filter(Boolean).length
    },
  }
}

/** What the poll says once it has noticed the first signal. */
const waiting = 'Waiting for the handler'

const patient = (log: string, go: string) =>
  `cat > /dev/null; echo begun >> ${log}; while [ ! -e ${go} ]; do sleep 0.05; done; echo done >> ${log}`

test.concurrent.for(['Ctrl-C', 'hang up'] as const)(
  '%s reaches only the poll, which waits for its handler and hands each change over once',
  async (what, { expect }) => {
    const { child, press, screen, logged, letGo, left } = await pollOnTerminal(patient)
    await expect.poll(logged).toBe('begun\n')
    press(what)
    await expect.poll(screen).toContain(waiting)
    await letGo()
    const code = await child.exited
    const handled = (await logged()).split('begun\ndone\n').length - 1
    expect({ code, log: await logged(), left: await left() }).toEqual({
      code: 0,
      log: 'begun\ndone\n'.repeat(handled),
      left: 2 - handled,
    })
  },
)

test.concurrent('a second Ctrl-C ends the poll and its handler with 130, and the change does not count as handled', async ({
  expect,
}) => {
  const stubborn = (log: string) => `trap "" INT TERM; echo begun $$ >> ${log}; while :; do sleep 0.05; done`
  const { child, press, screen, logged, left } = await pollOnTerminal(stubborn)
  await expect.poll(logged).toMatch(/^begun \d+\n$/)
  press('Ctrl-C')
  await expect.poll(screen).toContain(waiting)
  press('Ctrl-C')
  const code = await child.exited
  const handler = Number((await logged()).match(/\d+/))
  expect(() => process.kill(handler, 0)).toThrow('ESRCH')
  expect({ code, runs: (await logged()).trim().split('\n').length, left: await left() }).toEqual({
    code: 130,
    runs: 1,
    left: 2,
  })
})

test.concurrent('a handler that ends well after the second Ctrl-C does not count either', async ({
  expect,
}) => {
  const tidy = (log: string) => `trap "exit 0" TERM; echo begun >> ${log}; while :; do sleep 0.05; done`
  const { child, press, screen, logged, left } = await pollOnTerminal(tidy)
  await expect.poll(logged).toBe('begun\n')
  press('Ctrl-C')
  await expect.poll(screen).toContain(waiting)
  press('Ctrl-C')
  const code = await child.exited
  expect({ code, left: await left() }).toEqual({ code: 130, left: 2 })
})

test.concurrent('a handler gets its item on standard input and cannot read the terminal', async ({
  expect,
}) => {
  const curious = (log: string) =>
    `cat >> ${log}; if cat < /dev/tty; then echo terminal >> ${log}; else echo none >> ${log}; fi`
  const { child, press, logged, left } = await pollOnTerminal(curious)
  await expect.poll(logged).toContain('none')
  press('Ctrl-C')
  expect(await child.exited).toBe(0)
  const lines = (await logged()).trim().split('\n')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ booking_id: expect.any(Number) })
  expect(lines[1]).toBe('none')
  expect(await left()).toBe(2 - lines.length / 2)
})

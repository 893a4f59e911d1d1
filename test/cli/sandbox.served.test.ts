import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { sharedServices, testApp } from '../support/app.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()

/** Creates a partner, and returns functions that run commands with the partner's key. */
async function shell() {
  const { key } = await service.actor()
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: key, PATH: process.env.PATH ?? '' }
  return {
    run: (args: string[], stdin = '') => partnerctl(args, environment, stdin),
    async json(args: string[], stdin = '') {
      const { code, stdout, stderr } = await partnerctl([...args, '--json'], environment, stdin)
      if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
      return JSON.parse(stdout)
    },
  }
}

test.concurrent('partnerctl trigger lists the scenarios, and plays one', async ({ expect }) => {
  const { run, json } = await shell()
  const list = await run(['trigger'])
  expect({ code: list.code, lines: list.stdout.split('\n').length }).toEqual({ code: 0, lines: 11 })
  expect(list.stdout).toContain('guest-books')
  const args = ['trigger', 'guest-books', '--listing', '2002', '--count', '2', '--checkin', '2031-01-01']
  const { bookings, messages } = await json(args)
  expect({ bookings: bookings.length, messages: messages.length }).toEqual({ bookings: 2, messages: 2 })
  const booking = String(bookings[0].booking_id)
  const cancelled = await run(['trigger', 'guest-cancels', '--booking', booking])
  expect(cancelled).toMatchObject({
    code: 0,
    stdout: `scenario  guest-cancels\nbookings  ${booking} cancelled\nmessages  -\n`,
  })
  const again = await run(['trigger', 'guest-cancels', '--booking', booking])
  expect(again).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('the booking is not pending or confirmed'),
  })
  expect((await run(['trigger', 'unknown'])).code).toBe(1)
  const wrong = await run(['trigger', 'guest-books', '--count', 'many'])
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('count') })
  expect((await run(['trigger', 'guest-books', '--listing', 'x'])).code).toBe(2)
  expect((await run(['trigger', 'guest-books', '--sandbox'])).code).toBe(2)
})

test.concurrent('partnerctl faults sets, lists and clears rules, from a file or standard input', async ({
  expect,
}) => {
  const { run, json } = await shell()
  expect((await run(['faults', 'list'])).stdout).toBe('No faults\n')
  const rules = [{ fault: 'bad_gateway', operation: 'getHostProfile', times: 2 }, { fault: 'hint_lost' }]
  const folder = await mkdtemp(join(tmpdir(), 'partner-faults-'))
  const file = join(folder, 'rules.json')
  await Bun.write(file, JSON.stringify({ rules }))
  expect((await json(['faults', 'set', file])).rules).toMatchObject(rules)
  const met = await run(['me', '--sandbox'])
  expect(met).toMatchObject({ code: 1, stderr: expect.stringContaining('responded 502') })
  await expect
    .poll(async () => (await run(['requests', 'list', '--status', '502'])).stdout)
    .toMatch(/502 {2}GET \/sandbox\/me .* ms, bad_gateway /)
  const shown = (await run(['faults', 'list'])).stdout.split('\n').map((line) => line.split(/ {2,}/))
  expect(shown.slice(0, 3)).toEqual([
    ['FAULT', 'OF', 'PASS FIRST', 'LEFT'],
    ['bad_gateway', 'getHostProfile', '0', '1'],
    ['hint_lost', 'each', '0', '1'],
  ])
  const replaced = await json(['faults', 'set', '-'], JSON.stringify({ rules: [{ fault: 'slow' }] }))
  expect(replaced.rules).toHaveLength(1)
  expect((await run(['faults', 'clear'])).stdout).toBe('No faults\n')
  expect((await run(['faults', 'set', '-'], '{}')).code).toBe(1)
  expect((await run(['faults', 'set', join(folder, 'none')])).code).toBe(2)
  expect((await run(['me', '--sandbox'])).code).toBe(0)
  await rm(folder, { recursive: true })
})

test.concurrent('partnerctl clock shows the clock of the sandbox and moves it', async ({ expect }) => {
  const { run, json } = await shell()
  expect((await json(['clock'])).advanced_seconds).toBe(0)
  expect((await json(['clock', 'advance', '25h'])).advanced_seconds).toBe(90_000)
  expect((await run(['clock'])).stdout).toMatch(/^now +\d{4}-.*\nadvanced_seconds +90000\n$/)
  expect((await run(['clock', 'advance', '400d'])).code).toBe(1)
  for (const args of [
    ['clock', 'advance'],
    ['clock', 'back', '1h'],
    ['clock', 'advance', 'soon'],
  ])
    expect((await run(args)).code, args.join(' ')).toBe(2)
})

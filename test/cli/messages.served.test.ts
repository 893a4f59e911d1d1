import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setConversationClosed } from '../../src/stays/messages/conversation.ts'
import { partnerctlHere } from '../support/admin.ts'
import { seedBooking, sharedServices, testApp, testEnvironment } from '../support/app.ts'
import { commandLine } from '../support/command-line.ts'
import { partnerctl } from '../support/processes.ts'

const service = await testApp()
const [server] = sharedServices()
const administrator = testEnvironment()

/** Creates a partner with a booking and its own home directory. */
async function partner() {
  const actor = await service.actor()
  const { booking_id } = await seedBooking(actor)
  const folder = await mkdtemp(join(tmpdir(), 'partner-messages-'))
  const environment = { PARTNER_BASE_URL: server.url, PARTNER_API_KEY: actor.key, XDG_STATE_HOME: folder }
  return {
    actor,
    booking_id,
    folder,
    poll: (...args: string[]) => partnerctl(['messages', 'poll', '--once', ...args], environment),
    follow: (...args: string[]) =>
      Bun.spawn([...commandLine, ...args], {
        env: { PATH: process.env.PATH ?? '', ...environment },
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    reply: (...args: string[]) =>
      partnerctlHere(['conversations', 'reply', String(booking_id), ...args], administrator),
    send: (text: string) =>
      actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text } } }),
  }
}

const linesOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('messages poll delivers each message of both sides once, and keeps its own checkpoint', async () => {
  const { poll, send, reply, folder } = await partner()
  await send('Welcome')
  await reply('--text', '  Thank you  ')
  const first = await poll('--output', 'ndjson')
  expect(linesOf(first.stdout)).toMatchObject([
    { sender: 'guest', text: expect.any(String) },
    { sender: 'host', text: 'Welcome' },
    { sender: 'guest', text: 'Thank you' },
  ])
  expect((await poll('--output', 'ndjson')).stdout).toBe('')
  await send('Once more')
  expect(linesOf((await poll('--output', 'ndjson')).stdout).map(({ text }) => text)).toEqual(['Once more'])
  const [state = ''] = await Array.fromAsync(new Bun.Glob('partnerctl/*.json').scan(folder))
  expect(state).toMatch(/messages-\w+\.json$/)
  const refused = await poll('--state', join(folder, state))
  expect(refused.code).toBe(0)
})

test('messages poll takes the filters of messages and refuses those of bookings', async () => {
  const { poll, send, reply, booking_id } = await partner()
  await send('From the host')
  await reply('--text', 'From the guest')
  const ofGuest = linesOf((await poll('--output', 'ndjson', '--sender', 'guest')).stdout)
  expect(new Set(ofGuest.map(({ sender }) => sender))).toEqual(new Set(['guest']))
  const ofBooking = await poll('--output', 'ndjson', '--booking', String(booking_id))
  expect(linesOf(ofBooking.stdout).length).toBeGreaterThan(ofGuest.length)
  for (const args of [
    ['--listing', '1'],
    ['--checkout-after', '2027-01-01'],
    ['--sender', 'admin'],
    ['--booking', 'x'],
  ])
    expect({ flag: args[0], code: (await poll(...args)).code }).toEqual({ flag: args[0], code: 2 })
})

test('a handler of messages finds ids in its environment and the text on its standard input only', async () => {
  const { poll, send, folder } = await partner()
  await send('Handle me')
  const file = join(folder, 'handled')
  await poll('--sender', 'host', '--exec', `env > ${file}.env; cat > ${file}`)
  const [environment, input] = await Promise.all([readFile(`${file}.env`, 'utf8'), readFile(file, 'utf8')])
  const { id, booking_id, version, text } = JSON.parse(input)
  expect(text).toBe('Handle me')
  expect(environment).toContain(`PARTNER_MESSAGE_ID=${id}\n`)
  expect(environment).toContain(`PARTNER_BOOKING_ID=${booking_id}\n`)
  expect(environment).toContain(`PARTNER_VERSION=${version}\n`)
  expect(environment).toContain('PARTNER_SENDER=host\n')
  expect(environment).not.toContain('Handle me')
})

test('a table of messages is one line each, whatever the guest wrote', async () => {
  const { poll, reply } = await partner()
  await reply('--text', 'first\nsecond\u001b[2J\u0007 third')
  const { stdout } = await poll()
  expect(stdout).toContain('first second third')
  const csv = await poll('--output', 'csv', '--since', '2020-01-01')
  expect(csv.stdout).toContain('first second third')
})

test('conversations reply exits 2 for a text that nobody could send, and 1 where there is nobody to answer', async () => {
  const { reply, booking_id, actor } = await partner()
  expect((await reply('--text', '   ')).stderr).toMatch(/^Option --text is required\n/)
  expect((await reply('--text', '   ')).code).toBe(2)
  expect((await reply('--text', 'x'.repeat(5001))).code).toBe(2)
  expect(
    (await partnerctlHere(['conversations', 'reply', '999999999', '--text', 'Hi'], administrator)).code,
  ).toBe(1)
  const { stdout, stderr } = await reply('--text', 'Hello', '--json')
  expect(stderr).toBe('')
  const { body } = await actor.send('GET', '/v1/integrations/provider_one/messages?sender=guest')
  expect(body.data.messages.at(-1)).toEqual(JSON.parse(stdout))
  expect(await reply('--text', 'Hello', '--json')).toMatchObject({
    code: 0,
    stdout,
    stderr: 'The conversation already ended with this message, so it was not sent again\n',
  })
  await setConversationClosed(service.live, { id: booking_id, owner_id: actor.hostId }, true)
  const closed = await reply('--text', 'Too late')
  expect(closed).toMatchObject({ code: 1, stderr: 'The conversation is closed\n' })
})

test('feed poll --follow and messages poll --follow print a change while they wait, and stop at SIGTERM', async () => {
  const { follow, send, booking_id } = await partner()
  const bookings = follow('feed', 'poll', '--follow', '--output', 'ndjson')
  const messages = follow('messages', 'poll', '--follow', '--output', 'ndjson')
  const lines = { bookings: '', messages: '' }
  const collect = async (name: keyof typeof lines, stream: typeof bookings.stdout) => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) lines[name] += chunk
  }
  const reading = [collect('bookings', bookings.stdout), collect('messages', messages.stdout)]
  while (!lines.bookings || !lines.messages) await Bun.sleep(20)
  const seen = { ...lines }
  await Promise.all([send('Now'), partnerctlHere(['bookings', 'confirm', String(booking_id)], administrator)])
  while (lines.bookings === seen.bookings || lines.messages === seen.messages) await Bun.sleep(5)
  expect(linesOf(lines.bookings).at(-1)).toMatchObject({ booking_id, status: 'confirmed' })
  expect(linesOf(lines.messages).at(-1)).toMatchObject({ booking_id, text: 'Now' })
  for (const child of [bookings, messages]) child.kill('SIGTERM')
  expect(await Promise.all([bookings.exited, messages.exited])).toEqual([0, 0])
  await Promise.all(reading)
})

test('--follow and --once cannot be used together', async () => {
  const { poll } = await partner()
  const { code, stderr } = await poll('--follow')
  expect(code).toBe(2)
  expect(stderr).toMatch(/^Options --once and --follow cannot be used together\n/)
})

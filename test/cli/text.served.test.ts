import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readState } from '../../cli/partner/poll/state-file.ts'
import { csvCell, jsonText, visible, visibleLines } from '../../cli/shared/output.ts'
import { createHost } from '../../src/access/hosts/store.ts'
import { administrator, partnerctlHere } from '../support/admin.ts'
import { type Actor, makeActor, seedBooking, sender, sharedServices, testApp } from '../support/app.ts'
import { wellFormedKey } from '../support/keys.ts'
import { partnerctl } from '../support/processes.ts'

/** Text that would clear the screen, set a title, ring the bell, reverse the text, or start a new line. */
const hostile = 'A\u001b[2J\u001b]0;x\u0007\u009b31mB\u0007\u0085\u202eC\r\nD\u007f'
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

test('visible(), visibleLines() and jsonText() leave no control character, and jsonText() the same value', () => {
  expect(visible(hostile)).not.toMatch(controls)
  expect(visible(hostile)).not.toContain('\n')
  expect(visibleLines(`${hostile}\nnext`)).not.toMatch(controls)
  expect(visibleLines('one\ntwo')).toBe('one\ntwo')
  expect(jsonText({ hostile })).not.toMatch(controls)
  expect(JSON.parse(jsonText({ hostile }, 2))).toEqual({ hostile })
})

test.each([
  ['=1+1', "'=1+1"],
  ['+49 30', "'+49 30"],
  ['-2', "'-2"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "' =1"],
  ['\u0007=1', "' =1"],
  ['a=1', 'a=1'],
  ['a,"b"\nc', '"a,""b"" c"'],
])('csvCell(%j) is %j', (text, cell) => {
  expect(csvCell(text)).toBe(cell)
})

const service = await testApp()
const actor = await service.actor()
const [server] = sharedServices()

test('nothing that a host or a guest wrote reaches an administrator as a control character', async () => {
  const { db, clock } = service.live
  const send = sender((request) => service.app.handle(request))
  const actor: Actor = await makeActor(service.live, send)
  await createHost(db, clock, { name: hostile, email: `${crypto.randomUUID()}@example.com` })
  const { booking_id, listing_id } = await seedBooking(actor)
  await actor.send('PATCH', `/v1/listings/${listing_id}`, { body: { name: hostile } })
  await actor.send('POST', `/v1/bookings/${booking_id}/cancel`, { body: { reason: hostile } })
  await service.logged()
  const commands = [
    ['hosts', 'list', '--limit', '1000'],
    ['audit', 'list', '--limit', '1000'],
    ['listings', 'status', String(listing_id), 'published'],
    ['requests', 'list', '--key', String(actor.keyId)],
    ['conversations', 'reply', String(booking_id), '--text', hostile],
  ]
  for (const command of commands)
    for (const more of command[0] === 'hosts' ? [[], ['--json']] : [[]]) {
      const { stdout, stderr } = await partnerctlHere([...command, ...more], administrator())
      expect({
        command: command[0],
        controlsInStdout: stdout.match(controls),
        controlsInStderr: stderr.match(controls),
      }).toEqual({ command: command[0], controlsInStdout: null, controlsInStderr: null })
    }
  for (const output of ['table', 'csv', 'ndjson']) {
    const { stdout } = await partnerctl(
      ['messages', 'poll', '--once', '--output', output, '--since', '2020-01-01'],
      {
        PARTNER_BASE_URL: server.url,
        PARTNER_API_KEY: actor.key,
        XDG_STATE_HOME: await mkdtemp(join(tmpdir(), 'partner-text-')),
      },
    )
    expect({ output, controls: stdout.match(controls), isComplete: stdout.includes('D') }).toEqual({
      output,
      controls: null,
      isComplete: true,
    })
  }
})

test('text from a foreign server never starts a new line', async () => {
  const forged = 'x\nFORGED'
  const keyed = { id: 1, name: forged, host: { name: forged, email: forged }, permissions: [forged] }
  const rest = {
    rate_limit: { limit: forged, remaining: forged, window_seconds: 60 },
    usage: { count: forged, last_used_at: forged },
    [forged]: forged,
  }
  const row = {
    id: forged,
    at: forged,
    method: forged,
    path: forged,
    status: 422,
    duration_ms: 1,
    fault: forged,
    error: { type: forged, message: forged, errors: [{ path: forged, code: forged, message: forged }] },
  }
  const certification = {
    id: 1,
    status: 'failed',
    seed: forged,
    profiles: ['feed'],
    next: { action: forged, text: forged },
    cases: [
      { name: forged, status: 'failed', rule: forged, because: forged, request_ids: [forged], guide: forged },
    ],
  }
  const answers: Record<string, unknown> = {
    '/v1/key': { ...keyed, ...rest },
    '/v1/requests': [row],
    '/v1/me': { name: forged, email: forged, created_at: forged, last_login_at: forged },
    '/sandbox/certifications/1': certification,
  }
  const foreign = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch({ url }) {
      const data = answers[new URL(url).pathname]
      const error = { type: forged, message: forged, request_id: forged, errors: [row.error.errors[0]] }
      return data ? Response.json({ data, meta: {} }) : Response.json({ error }, { status: 404 })
    },
  })
  const environment = { PARTNER_BASE_URL: foreign.url.origin, PARTNER_API_KEY: actor.key }
  for (const command of [
    ['key'],
    ['requests', 'list'],
    ['me'],
    ['certify', 'status', '--id', '1'],
    ['feed', 'show', '7'],
  ]) {
    const { stdout, stderr } = await partnerctl(command, environment)
    expect({ command, output: `${stdout}${stderr}` }).toEqual({
      command,
      output: expect.stringContaining('FORGED'),
    })
    expect({ command, forgedLine: `${stdout}${stderr}`.match(/^\s*FORGED/m) }).toEqual({
      command,
      forgedLine: null,
    })
  }
  await foreign.stop(true)
})

const state = { root: 'http://localhost/v1', account: 'host a', filters: {}, version: '2031-01-01 00:00:00' }

test.each([
  ['', state.version],
  ['2031-01-01 00:03:20\n2031-01-01 00:03:21\n', '2031-01-01 00:03:21'],
  ['2031-01-01 00:03:20\n2031-01-0', '2031-01-01 00:03:20'],
  ['2031-01-01 00:03:20\n2032031-01-01 00:03:22\n', '2031-01-01 00:03:20'],
  ['2031-01-01 00:03:20\n20\n', '2031-01-01 00:03:20'],
  ['\n\n', state.version],
])('a state file that goes on with %j is at %s', async (more, version) => {
  const file = join(await mkdtemp(join(tmpdir(), 'partner-state-')), 'state.json')
  await writeFile(file, `${JSON.stringify(state)}\n${more}`)
  expect((await readState(file))?.version).toBe(version)
})

test('a state file that cannot be kept is named', async () => {
  const file = join(await mkdtemp(join(tmpdir(), 'partner-state-')), 'a file')
  await writeFile(file, '')
  const actor = await service.actor()
  const { code, stderr } = await partnerctl(['feed', 'poll', '--once', '--state', `${file}/state.json`], {
    PARTNER_BASE_URL: server.url,
    PARTNER_API_KEY: actor.key,
  })
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining(`Cannot write the state file "${file}/state.json": file already exists`),
  })
})

/** The body (`now`) and the status of the response from a foreign server, or from a service that was taken over. */
const answers: Record<string, unknown> = {}
const foreign = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => Response.json(answers.now, { status: (answers.status as number) ?? 200 }),
})
afterAll(() => foreign.stop(true))

test('a response that does not come from the service is reported as such, whatever it contains', async () => {
  const commands = [['me'], ['key'], ['requests', 'list'], ['nights', '1'], ['feed', 'show', '1']]
  const environment = { PARTNER_BASE_URL: foreign.url.origin, PARTNER_API_KEY: wellFormedKey }
  for (const data of [[null]]) {
    Object.assign(answers, { now: { data, meta: null }, status: 200 })
    for (const command of commands) {
      const { code, stderr } = await partnerctl(command, environment)
      expect({ command, data, code, stderr }).toEqual({
        command,
        data,
        code: 1,
        stderr: expect.stringContaining('is not from the partner interface'),
      })
    }
  }
  Object.assign(answers, { now: { error: { message: hostile, errors: [null, 5] } }, status: 422 })
  const { code, stderr } = await partnerctl(['me'], environment)
  expect({ code, controls: stderr.match(controls) }).toEqual({ code: 1, controls: null })
})

import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { makeWebhookSecret } from '../../../src/changes/webhooks/signature.ts'
import { type Actor, seedBooking, sharedServices, testApp } from '../../support/app.ts'
import { commandLine } from '../../support/command-line.ts'
import { wellFormedKey } from '../../support/keys.ts'
import { partnerctl } from '../../support/processes.ts'
import { type Received, startReceiver } from '../../support/receiver.ts'
import { samplesOf } from '../../support/samples.ts'

const service = await testApp()
const [server] = sharedServices()

interface Partner {
  actor: Actor
  seeded: Awaited<ReturnType<typeof seedBooking>>
}

/** Runs `listen` until `end()`, for the given partner or for a new partner with a booking. */
async function listen(url: string, args: string[] = [], secret?: string, partner?: Partner) {
  const actor = partner?.actor ?? (await service.actor())
  const seeded = partner?.seeded ?? (await seedBooking(actor))
  const { booking_id } = seeded
  const child = Bun.spawn([...commandLine, 'listen', '--forward-to', url, ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      PARTNER_BASE_URL: server.url,
      PARTNER_API_KEY: actor.key,
      ...(secret ? { PARTNER_WEBHOOK_SECRET: secret } : {}),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  onTestFinished(() => child.kill('SIGKILL'))
  let notes = ''
  let stdout = ''
  const readAll = (stream: ReadableStream<Uint8Array<ArrayBuffer>>, take: (text: string) => void) =>
    stream.pipeThrough(new TextDecoderStream()).pipeTo(new WritableStream({ write: take }))
  const noted = readAll(child.stderr, (text) => {
    notes += text
  })
  const printed = readAll(child.stdout, (text) => {
    stdout += text
  })
  return {
    actor,
    seeded,
    notes: () => notes,
    untilPrinted: (lines: number) => expect.poll(() => stdout.split('\n').length - 1).toBe(lines),
    untilListening: (feeds: number) => expect.poll(() => notes.split('Listening for').length - 1).toBe(feeds),
    message: (text: string) =>
      actor.send('POST', `/v1/bookings/${booking_id}/messages`, { body: { message: { text } } }),
    move: (to: 'confirm' | 'cancel') => actor.send('POST', `/v1/bookings/${booking_id}/${to}`),
    async end(): Promise<{ code: number; stdout: string }> {
      child.kill('SIGINT')
      await Promise.all([noted, printed])
      return { stdout, code: await child.exited }
    },
  }
}

const eventsOf = (received: Received[]) => received.map(({ body }) => JSON.parse(body).type).sort()

/** Returns the guide's functions that verify a signature, run exactly as the guide shows them. */
async function verifiers() {
  const samples = samplesOf('webhooks').filter(({ code }) => /hmac/i.test(code))
  const [javascript = '', python = '', shell = ''] = ['js', 'python', 'sh'].map(
    (wanted) => samples.find(({ language }) => language === wanted)?.code,
  )
  const run = async (command: string[], stdin: object) => {
    const child = Bun.spawn(command, {
      stdin: new Blob([JSON.stringify(stdin)]),
      stdout: 'pipe',
      stderr: 'inherit',
    })
    return (await new Response(child.stdout).text()).trim()
  }
  return {
    javascript: (hint: Received, secret: string) => {
      const read = `import { readFileSync } from 'node:fs'
        const { headers, body, secret } = JSON.parse(readFileSync(0, 'utf8'))
        const outcomes = [headers, new Headers(headers)].map((one) => verify(one, body, secret))
        if (verify({}, body, secret)) throw new Error('A hint without a signature was taken')`
      const call = `console.log(outcomes.every(Boolean) ? 'genuine' : outcomes.some(Boolean) ? 'unsure' : 'forged')`
      return run(['node', '--input-type=module', '-e', `${javascript}\n${read}\n${call}`], {
        ...hint,
        secret,
      })
    },
    python: (hint: Received, secret: string) => {
      const unsigned = `assert not verify({}, b'{}', hint['secret'])`
      const read = `import json, sys\nhint = json.load(sys.stdin)\n${unsigned}`
      const call = `print('genuine' if verify(hint['headers'], hint['body'].encode(), hint['secret']) else 'forged')`
      return run(['python3', '-c', `${python}\n${read}\n${call}`], { ...hint, secret })
    },
    shell: async ({ headers, body }: Received, secret: string) => {
      const values = {
        WEBHOOK_SECRET: secret,
        ID: headers['webhook-id'],
        TIMESTAMP: headers['webhook-timestamp'],
        BODY: body,
      }
      const child = Bun.spawn(['sh', '-c', shell], {
        env: { PATH: process.env.PATH ?? '', ...values },
        stdout: 'pipe',
      })
      const made = (await new Response(child.stdout).text()).trim()
      return headers['webhook-signature'] === `v1,${made}` ? 'genuine' : 'forged'
    },
  }
}

test('listen posts a hint for each change from now on, signed so that everybody can verify it', async () => {
  const secret = makeWebhookSecret()
  const { url, received } = startReceiver({ onTestFinished })
  const partner = await listen(url, [], secret)
  await partner.untilListening(2)
  expect(received).toEqual([])
  await partner.message('Welcome')
  await partner.move('confirm')
  await expect.poll(() => eventsOf(received)).toEqual(['booking.changed', 'message.created'])
  const {
    seeded: { booking_id, listing_id },
  } = partner
  const feed = '/v1/integrations/provider_one'
  const [change] = (await partner.actor.send('GET', `${feed}/bookings`)).body.data.Bookings.slice(-1)
  const [message] = (await partner.actor.send('GET', `${feed}/messages`)).body.data.messages.slice(-1)
  const hint = (type: string) => JSON.parse(received.find(({ body }) => body.includes(type))?.body ?? '')
  const iso = (version: string) => `${version.replace(' ', 'T')}.000000Z`
  expect(hint('booking.changed')).toEqual({
    type: 'booking.changed',
    timestamp: iso(change.version),
    data: { booking_id, listing_id, version: change.version },
  })
  expect(hint('message.created')).toEqual({
    type: 'message.created',
    timestamp: iso(message.version),
    data: { booking_id, listing_id, version: message.version, message_id: message.id },
  })

  const verify = await verifiers()
  for (const one of received) {
    expect(one.headers['webhook-id']).toMatch(/^msg_/)
    expect(new Webhook(secret).verify(one.body, one.headers)).toEqual(JSON.parse(one.body))
    const forged = { ...one, body: one.body.replace('"version":"2', '"version":"3') }
    expect(() => new Webhook(secret).verify(forged.body, forged.headers)).toThrow()
    for (const check of Object.values(verify))
      expect({ original: await check(one, secret), forged: await check(forged, secret) }).toEqual({
        original: 'genuine',
        forged: 'forged',
      })
  }
  await partner.untilPrinted(2)
  const { code, stdout } = await partner.end()
  expect(code).toBe(0)
  expect(stdout.split('\n').sort().filter(Boolean)).toEqual([
    expect.stringMatching(`^booking.changed of booking ${booking_id}: delivered, responded 200 in \\d+ ms$`),
    expect.stringMatching(`^message.created of booking ${booking_id}: delivered, responded 200 in \\d+ ms$`),
  ])
})

test('listen makes three attempts under one id, follows no redirect, and continues with the next hint', async () => {
  // The output for the last hint is not checked. Its arrival proves that the output for the previous hint is complete.
  const answers = [500, 302, 200, 302, 404, 410, 204, 204]
  const { url, received } = startReceiver({ onTestFinished }, (_, count) => {
    const status = answers[count - 1] as number
    return new Response(null, { status, headers: status === 302 ? { location: '/elsewhere' } : {} })
  })
  const partner = await listen(url, ['--events', 'message.created', '--output', 'ndjson'])
  await partner.untilListening(1)
  const [, secret = ''] = /^Signed with (whsec_\S+)$/m.exec(partner.notes()) ?? []
  for (const text of ['one', 'two', 'three', 'four']) await partner.message(text)
  await partner.move('cancel')
  await expect.poll(() => received.length).toBe(answers.length)
  const ids = received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(4)
  expect(ids[0]).toBe(ids[2])
  for (const { headers, body } of received) new Webhook(secret).verify(body, headers)
  const { code, stdout } = await partner.end()
  expect(code).toBe(0)
  const lines = stdout.trim().split('\n')
  expect(lines.slice(0, 3).map((line) => JSON.parse(line))).toMatchObject([
    { event: 'message.created', status: 'delivered', attempts: 3, response_status: 200 },
    { event: 'message.created', status: 'failed', attempts: 3, response_status: 410 },
    { event: 'message.created', status: 'delivered', attempts: 1, response_status: 204 },
  ])
})

test('listen starts now, even if the feed has moved since it last started', async () => {
  const { url, received } = startReceiver({ onTestFinished })
  const only = ['--events', 'booking.changed']
  const first = await listen(url, only)
  await first.untilListening(1)
  const { user_id, listing_id, room_type_id } = first.seeded
  const stay = { user_id, listing_id, room_type_id, checkin_at: '2032-01-01', checkout_at: '2032-02-01' }
  const { booking_id } = (await first.actor.send('POST', '/v1/bookings', { body: stay })).body.data
  await expect.poll(() => received.length).toBe(1)
  await first.end()
  // The second start makes the service remember where page 2 begins. Then the first booking changes, then the second.
  const second = await listen(url, only, undefined, first)
  await second.untilListening(1)
  await second.end()
  await first.move('confirm')
  await first.actor.send('POST', `/v1/bookings/${booking_id}/confirm`)
  const again = await listen(url, only, undefined, first)
  await again.untilListening(1)
  await first.move('cancel')
  await expect.poll(() => received.length).toBe(2)
  expect(JSON.parse(received[1]?.body ?? '').data.booking_id).toBe(first.seeded.booking_id)
  await again.end()
})

test('listen --since starts in the past, and wrong arguments are refused before anything is sent', async () => {
  const { url, received } = startReceiver({ onTestFinished })
  const partner = await listen(url, ['--since', '2020-01-01 00:00:00'])
  await expect.poll(() => eventsOf(received)).toEqual(['booking.changed', 'message.created'])
  await partner.end()
  const refused = async (args: string[], more: Record<string, string> = {}) => {
    const { code, stderr } = await partnerctl(['listen', ...args], {
      PARTNER_API_KEY: wellFormedKey,
      ...more,
    })
    expect(code).toBe(2)
    return stderr.split('\n')[0]
  }
  expect(await refused(['--forward-to', url, '--json'])).toContain('--output ndjson')
  expect(await refused(['--forward-to', 'ftp://localhost'])).toContain('must be an address that starts with')
  expect(await refused(['--forward-to', 'http://me:secret@localhost'])).toContain('without a login')
  expect(await refused(['--forward-to', url, '--events', 'booking.created'])).toContain('is not one of')
  expect(await refused(['--forward-to', url, '--since', 'yesterday'])).toContain('is not a valid version')
  const wrong = await refused(['--forward-to', url], { PARTNER_WEBHOOK_SECRET: 'whsec_dG9vIHNob3J0' })
  expect(wrong).toBe('The secret must be "whsec_" with 24 to 64 bytes in base64')
})

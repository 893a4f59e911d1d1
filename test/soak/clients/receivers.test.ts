import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { signWebhook } from '../../../client/src/sign.ts'
import { makeWebhookSecret } from '../../../src/changes/webhooks/signature.ts'
import { readChapters } from '../../../src/pages/guide/chapters.ts'
import { freePort } from '../../../src/platform/process.ts'
import { testApp } from '../../support/app.ts'
import { hookSettings } from '../../support/hook-services.ts'
import { root } from '../../support/processes.ts'
import { type Received, startReceiver } from '../../support/receiver.ts'
import { samplesIn, samplesOf } from '../../support/samples.ts'
import { hookedPartner } from '../../support/webhooks.ts'

/** A language of the chapter: the file that gets its sample, the receiver around it, and how both are run. */
interface Language {
  language: string
  sample: string
  receiver: string
  build?: string[]
  command: (port: number) => string[]
}

const languages: Language[] = [
  {
    language: 'php',
    sample: 'verify.php',
    receiver: 'receiver.php',
    command: (port) => ['php', '-S', `127.0.0.1:${port}`, 'receiver.php'],
  },
  {
    language: 'ruby',
    sample: 'verify.rb',
    receiver: 'receiver.rb',
    command: () => ['ruby', 'receiver.rb'],
  },
  {
    language: 'go',
    sample: 'verify.go',
    receiver: 'receiver.go',
    build: ['go', 'build', '-o', 'receiver', 'verify.go', 'receiver.go'],
    command: () => ['./receiver'],
  },
  {
    language: 'java',
    sample: 'Hint.java',
    receiver: 'Receiver.java',
    build: ['javac', 'Hint.java', 'Receiver.java'],
    command: () => ['java', '-cp', '.', 'Receiver'],
  },
]

/** What the service really sent: with one secret, and after a rotation with two. */
const real: Received[] = []
let secret = ''
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'partner-receivers-'))
  const service = await testApp(await hookSettings())
  const recorder = startReceiver({ onTestFinished: afterAll })
  const { actor, id, secret: first, book } = await hookedPartner(service, recorder.url)
  secret = first
  const path = `/v1/webhooks/${id}`
  expect((await actor.send('POST', `${path}/test`)).status).toBe(200)
  expect((await book()).status).toBe(201)
  const isHint = ({ hint }: Received) => hint.type === 'booking.changed'
  while (!recorder.received.some(isHint)) await Bun.sleep(20)
  expect((await actor.send('POST', `${path}/secret/rotate`)).status).toBe(200)
  expect((await actor.send('POST', `${path}/test`)).status).toBe(200)
  real.push(...recorder.received)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('every sample in PHP, Ruby, Go or Java is one of those that are run here', () => {
  const here = languages.map(({ language }) => language)
  const found = readChapters().flatMap(({ name, markdown }) =>
    samplesIn(markdown)
      .filter(({ language }) => here.includes(language))
      .map(({ language }) => ({ name, language })),
  )
  expect(found).toEqual(here.map((language) => ({ name: 'verifying-hints', language })))
})

test.each(languages)(
  'the sample in $language accepts what the service sends, and nothing else',
  async (one) => {
    const send = await startReceiverIn(one)
    const signatures = real.map(({ headers }) => headers['webhook-signature']?.split(' ').length)
    expect(signatures.at(-1), 'signatures after a rotation').toBe(2)
    for (const { headers, body, hint } of real)
      expect({ type: hint.type, status: await send(headers, body) }).toEqual({ type: hint.type, status: 204 })

    const [{ headers, body }] = real as [Received]
    const other = makeWebhookSecret()
    const text = '{"type":"webhook.test","data":{"text":"Łódź and/or \\"Lodz\\""}}'
    const signed = (seconds: number, by = secret, sent = text) =>
      signWebhook({ id: 'msg_1', at: new Date(Date.now() + seconds * 1000), body: sent }, by)
    const fresh = await signed(0)
    const foreign = (await signed(0, other))['webhook-signature']
    const signature = fresh['webhook-signature']
    const rows: [name: string, status: number, headers: Record<string, string>, body: string][] = [
      ['letters beyond ASCII and a slash', 204, fresh, text],
      ['four minutes old', 204, await signed(-240), text],
      ['a second signature', 204, { ...fresh, 'webhook-signature': `${foreign} ${signature}` }, text],
      ['a real hint with another body', 401, headers, body.replace('webhook.test', 'webhook.tess')],
      ['a body that was encoded again', 401, fresh, text.replace('Ł', '\\u0141')],
      ['a real hint under another id', 401, { ...headers, 'webhook-id': 'msg_2' }, body],
      ['six minutes old', 401, await signed(-360), text],
      ['six minutes ahead', 401, await signed(360), text],
      ['another secret', 401, await signed(0, other), text],
      [
        'a newer time',
        401,
        { ...(await signed(-360)), 'webhook-timestamp': fresh['webhook-timestamp'] },
        text,
      ],
      ['a time that is not a number', 401, { ...fresh, 'webhook-timestamp': 'now' }, text],
      ['a huge time', 401, { ...fresh, 'webhook-timestamp': '9'.repeat(30) }, text],
      ['half a signature', 401, { ...fresh, 'webhook-signature': signature.slice(0, 20) }, text],
      ['another version', 401, { ...fresh, 'webhook-signature': signature.replace('v1,', 'v2,') }, text],
      ['no headers', 401, {}, text],
    ]
    for (const [name, status, sent, content] of rows)
      expect({ name, status: await send(sent, content) }).toEqual({ name, status })
  },
)

/** Starts a receiver that knows the webhook's first secret; returns a function that posts to it. */
async function startReceiverIn({ language, sample, receiver, build, command }: Language) {
  const place = join(folder, language)
  await mkdir(place)
  const code = samplesOf('verifying-hints').find((one) => one.language === language)?.code ?? ''
  await writeFile(join(place, sample), code)
  await copyFile(join(root, 'test/soak/clients/receivers', receiver), join(place, receiver))
  const port = await freePort()
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: place,
    PORT: String(port),
    WEBHOOK_SECRET: secret,
  }
  if (build) await Bun.$`${build}`.cwd(place).env(env).quiet()
  const child = Bun.spawn(command(port), { cwd: place, env, stdout: 'ignore', stderr: 'pipe' })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await child.exited
  })
  const send = async (headers: Record<string, string>, body: string) => {
    const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].filter((name) => name in headers)
    const sent = Object.fromEntries(names.map((name) => [name, headers[name] ?? '']))
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: sent, body })
    return response.status
  }
  const isUp = () =>
    send({}, '').then(
      () => true,
      () => false,
    )
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(await new Response(child.stderr).text())
    await Bun.sleep(50)
  }
  return send
}

import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeWebhookSecret } from '../../../src/changes/webhooks/signature.ts'
import { readChapters } from '../../../src/pages/guide/chapters.ts'
import { freePort } from '../../../src/platform/process.ts'
import { sharedServices, testApp } from '../../support/app.ts'
import { ownDatabase } from '../../support/databases.ts'
import { root } from '../../support/processes.ts'
import {
  isProgram,
  killSample,
  makeProject,
  type Sample,
  samplesIn,
  samplesOf,
  startSample,
} from '../../support/samples.ts'

const service = await testApp()
const [{ url }] = sharedServices()
let project = ''
beforeAll(async () => {
  project = await makeProject(url)
})
afterAll(() => rm(project, { recursive: true }))

/** Files that the guide tells readers to create. */
const files = {
  'calendar.ics': 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n',
  'rules.json': JSON.stringify({ rules: [{ fault: 'slow', operation: 'createBooking' }] }),
  'bookings.csv': 'booking_id,status,checkin_at,checkout_at\n5001,confirmed,2026-10-15,2026-12-14\n',
}

/** The README's samples, except the commands that start and test the service. */
const readme = samplesIn(await readFile(join(root, 'README.md'), 'utf8')).filter(
  ({ code }) => !/^bin\/(start|test)$/m.test(code),
)
const mongodbUrl = await ownDatabase()

/** Runs samples one by one in a folder, as a new partner, and compares their output with the sample answers. */
async function runAll(name: string, samples: Sample[]): Promise<void> {
  const { key } = await service.actor()
  const folder = join(project, name)
  const environment = {
    PARTNER_BASE_URL: url,
    PARTNER_API_KEY: key,
    PORT: String(await freePort()),
    // Administrators' commands open the database.
    MONGODB_URL: mongodbUrl,
    WEBHOOK_SECRET: makeWebhookSecret(),
    ID: 'msg_1',
    TIMESTAMP: '0',
    BODY: '{}',
  }
  await mkdir(folder)
  for (const shared of ['bin', 'fixtures']) await symlink(join(root, shared), join(folder, shared))
  for (const [file, text] of Object.entries({ ...files, 'partner.key': key }))
    await writeFile(join(folder, file), text)
  let printed = ''
  for (const [index, sample] of samples.entries()) {
    if (sample.kind === 'answer')
      expect(differences(JSON.parse(sample.code), JSON.parse(printed)), sample.code).toEqual([])
    if (!isProgram(sample)) continue
    const child = await startSample(sample, folder, environment)
    if (sample.kind === 'loop') {
      await untilItWorks(child, folder)
      continue
    }
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    const answer = samples.slice(index).find(({ kind }) => kind === 'answer')
    const isRefused = code === 22 && answer?.code.startsWith('{\n  "error"')
    if (code !== 0 && !isRefused) throw new Error(`${name}:\n${sample.code}\n${stdout}\n${stderr}`)
    if (sample.language === 'sh') printed = stdout
  }
}

/** Waits until an endless sample has printed or stored something, and then kills it. */
async function untilItWorks(child: Awaited<ReturnType<typeof startSample>>, folder: string): Promise<void> {
  const printed = child.stdout.getReader().read()
  const handled = async () => (await readFile(join(folder, 'handled'), 'utf8').catch(() => '')) !== ''
  const stored = async () => {
    while (child.exitCode === null && !(await handled())) await Bun.sleep(20)
  }
  const ended = child.exited.then(async () => {
    throw new Error(`The loop has ended: ${await new Response(child.stderr).text()}`)
  })
  await Promise.race([printed, stored(), ended])
  await killSample(child)
  await Promise.all(['handled', 'version'].map((file) => rm(join(folder, file), { force: true })))
}

/** Fields whose values the guide promises. For all other fields, it promises only their existence and type. */
const exact =
  /^(nights|price|discount|price_total|security_deposit|currency|available|booked|left|status|type|code|path|action|sender|special_requests)$/

/** Returns the paths at which an answer differs from the guide. An answer may have more fields and items. */
function differences(shown: unknown, actual: unknown, path = ''): string[] {
  if (shown !== null && typeof shown === 'object') {
    if (actual === null || typeof actual !== 'object') return [`${path} is ${actual}`]
    const fields = actual as Record<string, unknown>
    return Object.entries(shown).flatMap(([key, value]) => differences(value, fields[key], `${path}.${key}`))
  }
  const isExact = exact.test(path.split('.').at(-1) ?? '')
  const isSame = shown === null || actual === null || typeof shown === typeof actual
  return actual === undefined || !isSame || (isExact && shown !== actual) ? [`${path} is ${actual}`] : []
}

test.concurrent.each(readChapters().map(({ name }) => name))(
  'the samples of the chapter "%s" run as they stand',
  (name) => runAll(name, samplesOf(name, url)),
  40_000,
)

test.concurrent('the samples of the README and of the home page run as they stand', async () => {
  const home = await readFile(join(root, 'docs/guide/home.md'), 'utf8')
  await runAll('readme', [...readme, ...samplesIn(home)])
}, 40_000)

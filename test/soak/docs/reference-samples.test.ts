import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { splitRoot } from '../../../src/http/roots.ts'
import { exampleIds } from '../../../src/pages/docs/examples.ts'
import { sharedServices, testApp } from '../../support/app.ts'
import { storeCertification } from '../../support/certification.ts'
import { makeProject, startSample } from '../../support/samples.ts'

interface Operation {
  operationId: string
  parameters: { name: string }[]
  'x-codeSamples': { label: string; source: string }[]
}

const service = await testApp()
const [{ url }] = sharedServices()
const { paths } = (await service.send('GET', '/docs/reference.json')).body
const all = Object.entries<Record<string, Operation>>(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, ...operation })),
)
const inSandbox = all.filter(({ path }) => splitRoot(path).environment === 'sandbox')
let project = ''
beforeAll(async () => {
  project = await makeProject(url)
})
afterAll(() => rm(project, { recursive: true }))

/** A sample with the key of the partner who runs it. */
interface Run {
  operationId: string
  key: string
  code: string
}

/**
 * Returns every operation's sample in one language, ordered so that each finds the data it needs. Replaces only the ids
 * of data that the partner must create first.
 */
async function runsOf(label: string): Promise<Run[]> {
  const [actor, certifying, certified] = await Promise.all([
    service.actor(),
    service.actor(),
    service.actor(),
  ])
  const body = { url: 'https://hooks.example.com/', events: ['booking.changed'] }
  const { id } = (await actor.send('POST', '/sandbox/webhooks', { body })).body.data
  const delivery = (await actor.send('POST', `/sandbox/webhooks/${id}/test`)).body.data.id
  for (const feed of ['bookings', 'messages']) {
    const consumer = `/sandbox/integrations/provider_one/${feed}/consumers/booking-sync`
    await actor.send('PUT', consumer, { body: { acknowledged: null } })
  }
  const running = await storeCertification(certifying.db, certifying, 'asked')
  const passed = await storeCertification(certified.db, certified, 'passed')
  const callerOf = (operationId: string) => {
    if (!operationId.includes('Certification')) return { who: actor, own: id }
    const needsPassed = /^start|Report$/.test(operationId)
    return needsPassed ? { who: certified, own: passed } : { who: certifying, own: running }
  }
  const ordered = [...inSandbox].sort((one, other) => Number(isDelete(one)) - Number(isDelete(other)))
  return ordered.map(({ operationId, ...operation }) => {
    const { who, own } = callerOf(operationId)
    const { source = '' } = operation['x-codeSamples'].find((sample) => sample.label === label) ?? {}
    const code = source
      .replaceAll(String(exampleIds.webhooks), String(own))
      .replaceAll(String(exampleIds.deliveries), delivery)
    return { operationId, key: who.key, code }
  })
}

const isDelete = ({ method }: { method: string }) => method === 'delete'

/** Functions that return a program, which prints each sample's name and then runs the sample. */
const programs = {
  async curl(runs: Run[]) {
    const lines = runs.map(
      ({ operationId, key, code }) => `echo ${operationId} >&2\nexport PARTNER_API_KEY=${key}\n${code}`,
    )
    return { language: 'sh', code: lines.join('\n') }
  },
  async JavaScript(runs: Run[], folder: string) {
    const files = runs.map(({ operationId, code }) => writeFile(join(folder, `${operationId}.mjs`), code))
    await Promise.all(files)
    const lines = runs.map(
      ({ operationId, key }) =>
        `console.error('${operationId}'); process.env.PARTNER_API_KEY = '${key}'; await import('./${operationId}.mjs')`,
    )
    return { language: 'js', code: lines.join('\n') }
  },
  async Python(runs: Run[]) {
    const lines = runs.map(
      ({ operationId, key, code }) =>
        `import os, sys\nprint('${operationId}', file=sys.stderr)\nos.environ['PARTNER_API_KEY'] = '${key}'\n${code}`,
    )
    return { language: 'python', code: lines.join('\n') }
  },
}

test.concurrent.each(Object.keys(programs) as (keyof typeof programs)[])(
  'the samples of every operation in %s run as they stand',
  async (label) => {
    const runs = await runsOf(label)
    const folder = join(project, label)
    await mkdir(folder)
    const program = await programs[label](runs, folder)
    const child = await startSample({ kind: undefined, ...program }, folder, { PARTNER_BASE_URL: url })
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    if (code !== 0) throw new Error(`${stderr}\n${stdout.slice(-2000)}`)
    expect(stderr.trim().split('\n')).toEqual(runs.map(({ operationId }) => operationId))
    expect(stdout).toContain('checkin_at')
  },
  40_000,
)

test('the samples of live data send the same requests to the sandbox, creates with an `Idempotency-Key`', () => {
  expect(all.length).toBeGreaterThan(100)
  for (const { path, method, parameters, 'x-codeSamples': samples } of all) {
    const twin = paths[`/sandbox${splitRoot(path).rest}`][method]['x-codeSamples'] as typeof samples
    expect(samples.map(({ label }) => label)).toEqual(['curl', 'JavaScript', 'Python'])
    const takesKey = parameters.some(({ name }) => name === 'Idempotency-Key')
    for (const [index, { source }] of samples.entries()) {
      expect(source.endsWith(twin[index]?.source ?? '?')).toBe(true)
      expect(/idempotency-?key/i.test(source), source).toBe(takesKey)
    }
  }
})

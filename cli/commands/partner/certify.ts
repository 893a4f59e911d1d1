import { writeFile } from 'node:fs/promises'
import { Type } from '@sinclair/typebox'
import { defineCommand } from 'citty'
import type { CertificationView } from '../../../src/certification/schema.ts'
import { describeCertification, describeNext, toJunit } from '../../certify/show.ts'
import { verifyReport } from '../../certify/verify.ts'
import { openSandboxClient, type PartnerClient, sandboxArgs } from '../../client/client.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { ChecksFailedError } from '../../findings.ts'
import { note, print, record } from '../../output.ts'
import { stopOnSignal, withRetries } from '../../poll/patience.ts'
import { readText } from '../../read-text.ts'
import { visible } from '../../text.ts'
import { parseId } from '../../values.ts'

const Certification = Type.Object({
  id: Type.Integer(),
  status: Type.String(),
  cases: Type.Array(Type.Object({ name: Type.String(), status: Type.String() })),
})
const Report = Type.Object({ report: Type.String() })
const followSeconds = 5

const idArgument = {
  id: { type: 'string', description: 'Id of the certification; the newest without it' },
} as const

const start = command({
  meta: {
    name: 'start',
    description: 'Start a certification: clears the sandbox of the key, and plays a course in it',
  },
  examples: ['partnerctl certify start --profile feed,bookings'],
  args: {
    profile: {
      type: 'string',
      required: true,
      description: 'Comma-separated: feed, inventory, bookings, webhooks',
    },
    seed: { type: 'string', description: 'Decides what is played: the same course for the same seed' },
    ...withoutProfile(),
  },
  async run({ args }) {
    const client = await openSandboxClient({ ...args, profile: undefined })
    const profiles = args.profile.split(',').map((name) => name.trim())
    const body = JSON.stringify({ profiles, ...(args.seed ? { seed: args.seed } : {}) })
    const { data } = await client.send<CertificationView>('POST', '/certifications', {
      body,
      expects: Certification,
    })
    print(args, data, describeCertification)
  },
})

const status = command({
  meta: {
    name: 'status',
    description: 'Show how a certification stands; exits with 1 when it failed or expired',
  },
  examples: ['partnerctl certify status --follow', 'partnerctl certify status --junit certification.xml'],
  args: {
    ...idArgument,
    follow: { type: 'boolean', description: 'Show what changes until it has ended' },
    junit: { type: 'string', description: 'Write the cases to this file as JUnit', valueHint: 'file' },
    ...sandboxArgs,
  },
  async run({ args }) {
    const client = await openSandboxClient(args)
    const found = args.follow
      ? await follow(client, args.id)
      : await read(client, await idOf(client, args.id))
    if (found === null) return
    if (args.junit) await write(args.junit, toJunit(found))
    print(args, found, describeCertification)
    if (found.status === 'failed' || found.status === 'expired')
      throw new ChecksFailedError(`The certification ${found.status}`)
  },
})

const state = command({
  meta: { name: 'state', description: 'Upload what your product holds, when the certification asks for it' },
  examples: ['partnerctl certify state bookings.ndjson', './export-bookings | partnerctl certify state -'],
  args: {
    file: {
      type: 'positional',
      required: true,
      description: 'JSON with "bookings", or one booking in a line, or - for standard input',
    },
    ...idArgument,
    ...sandboxArgs,
  },
  async run({ args }) {
    const client = await openSandboxClient(args)
    const body = await readText(args.file)
    const id = await idOf(client, args.id)
    await client.send('PUT', `/certifications/${id}/state`, { body, expects: Certification })
    note('The state was taken; it is being judged')
    print(args, await judged(client, id), describeCertification)
  },
})

const report = command({
  meta: { name: 'report', description: 'Print the signed report of a certification that was passed' },
  examples: ['partnerctl certify report --output report.jws'],
  args: {
    ...idArgument,
    output: { type: 'string', description: 'Write it to this file instead', valueHint: 'file' },
    ...sandboxArgs,
  },
  async run({ args }) {
    const client = await openSandboxClient(args)
    const path = `/certifications/${await idOf(client, args.id)}/report`
    const { data } = await client.send<{ report: string }>('GET', path, { expects: Report })
    if (args.output) await write(args.output, `${data.report}\n`)
    print(args, data, ({ report: text }) => (args.output ? `Written to ${args.output}` : text))
  },
})

const verify = command({
  meta: {
    name: 'verify',
    description: 'Verify a signed report; exits with 1 when it is wrong or has expired',
  },
  examples: [
    'partnerctl certify verify report.jws --base-url https://partners.example.com',
    'partnerctl certify verify report.jws --base-url https://partners.example.com --jwks jwks.json',
  ],
  args: {
    file: { type: 'positional', required: true, description: 'File with the report' },
    'base-url': sandboxArgs['base-url'],
    jwks: {
      type: 'string',
      description: 'File with the public keys, instead of those of the service',
      valueHint: 'file',
    },
  },
  async run({ args }) {
    const base = args['base-url'] ?? process.env.PARTNER_BASE_URL
    if (!base) throw new UsageError('Whose report is it? Give --base-url')
    const jwks = args.jwks ? await readText(args.jwks) : undefined
    const claims = await verifyReport((await readText(args.file)).trim(), base, jwks)
    print(args, claims, ({ host, key_name, contract, certification, exp }) =>
      record({
        report: 'genuine',
        host,
        key: key_name,
        contract,
        profiles: certification.profiles.join(', '),
        passed: certification.ended_at,
        expires: new Date(exp * 1000).toISOString(),
      }),
    )
  },
})

/** Returns the arguments without `--profile`, which these commands use for the profiles to certify. */
function withoutProfile() {
  const { profile: _, ...rest } = sandboxArgs
  return rest
}

async function idOf(client: PartnerClient, id: string | undefined): Promise<number> {
  if (id !== undefined) return parseId(id)
  const { data } = await client.send<CertificationView[]>('GET', '/certifications', {
    expects: Type.Array(Certification),
  })
  const [newest] = data
  if (!newest) throw new ChecksFailedError('There is no certification of this key: partnerctl certify start')
  return newest.id
}

const judgeTries = 4

/** Returns the certification once the uploaded state has been judged, or as it stands after a few seconds. */
async function judged(client: PartnerClient, id: number): Promise<CertificationView> {
  let found = await read(client, id)
  for (let tries = 0; tries < judgeTries && found.next?.action === 'upload_state'; tries += 1) {
    await Bun.sleep(1000)
    found = await read(client, id)
  }
  return found
}

async function read(client: PartnerClient, id: number): Promise<CertificationView> {
  const found = await client.send<CertificationView>('GET', `/certifications/${id}`, {
    expects: Certification,
  })
  return found.data
}

/**
 * Notes each case as it is decided, and each next step, until the certification has ended; returns null if stopped
 * earlier. Waits out limits, failures and lost connections, because a build server must not mistake them for a failed
 * product.
 */
async function follow(client: PartnerClient, named: string | undefined): Promise<CertificationView | null> {
  const stop = stopOnSignal()
  const id = await withRetries(() => idOf(client, named), stop)
  const decided = new Set<string>()
  let asked = ''
  while (id !== null) {
    const found = await withRetries(() => read(client, id), stop)
    if (found === null) break
    for (const { name, status: state, because, request_ids } of found.cases)
      if (state !== 'waiting' && !decided.has(name)) {
        decided.add(name)
        const requests = request_ids.length > 0 ? `; request ${request_ids.at(-1)}` : ''
        note(visible(`${state}: ${name}${because ? ` (${because}${requests})` : ''}`))
      }
    const next = found.next ? describeNext(found.next) : ''
    if (next !== '' && next !== asked) note(next)
    asked = next
    if (found.status !== 'running') return found
    await stop.sleep(followSeconds)
  }
  return null
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch(() => {
    throw new UsageError(`Cannot write "${file}"`)
  })
}

export const certify = defineCommand({ subCommands: { start, status, state, report, verify } })

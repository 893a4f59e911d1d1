import { writeFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { defineCommand } from 'citty'
import type { SandboxClient, Schemas } from '../../../client/src/index.ts'
import { command, flag, option, positional, requiredOption } from '../../shared/command.ts'
import { ChecksFailedError, UsageError } from '../../shared/errors.ts'
import { reasonOf } from '../../shared/file-errors.ts'
import { note, print, record, visible } from '../../shared/output.ts'
import { parseId, readText } from '../../shared/values.ts'
import { describeCertification, describeNext, toJunit } from '../certify/show.ts'
import { verifyReport } from '../certify/verify.ts'
import { openSandboxClient, sandboxArgs } from '../client.ts'
import { sleep, stopOnSignal, untilStopped } from '../stop.ts'

type Certification = Schemas['Certification']
type Profiles = Certification['profiles']

const followSeconds = 5

const idArgument = {
  id: option('Id of the certification (default: the newest)'),
} as const

// Here, `--profile` names the profiles to certify, not a stored login.
const { profile: _, ...argsWithoutProfile } = sandboxArgs

const start = command({
  meta: {
    name: 'start',
    description: "Start a certification, which clears the key's sandbox and plays a course in it",
  },
  examples: ['partnerctl certify start --profile feed,bookings'],
  args: {
    profile: requiredOption('Comma-separated: feed, inventory, bookings, webhooks'),
    seed: option('Seed that determines the course: the same course for the same seed'),
    ...argsWithoutProfile,
  },
  async run({ args }) {
    const { sandbox } = await openSandboxClient({ ...args, profile: undefined })
    // Names are not checked here, because the service explains which names are invalid.
    const profiles = args.profile.split(',').map((name) => name.trim()) as Profiles
    const body = { profiles, ...(args.seed ? { seed: args.seed } : {}) }
    print(args, await sandbox.certifications.start(body), describeCertification)
  },
})

const status = command({
  meta: {
    name: 'status',
    description: 'Show the state of a certification; exits with 1 if it failed or expired',
  },
  examples: ['partnerctl certify status --follow', 'partnerctl certify status --junit certification.xml'],
  args: {
    ...idArgument,
    follow: flag('Show each change until the certification has ended'),
    junit: option('Write the cases to this file as JUnit', 'file'),
    ...sandboxArgs,
  },
  async run({ args }) {
    const { sandbox } = await openSandboxClient(args, args.follow ? Number.POSITIVE_INFINITY : 0)
    const found = args.follow
      ? await follow(sandbox, args.id)
      : await sandbox.certifications.get(await idOf(sandbox, args.id))
    if (found === null) return
    if (args.junit) await write(args.junit, toJunit(found))
    print(args, found, describeCertification)
    if (found.status === 'failed' || found.status === 'expired')
      throw new ChecksFailedError(`The certification ${found.status}`)
  },
})

const state = command({
  meta: { name: 'state', description: "Upload your product's bookings when the certification asks for them" },
  examples: ['partnerctl certify state bookings.ndjson', './export-bookings | partnerctl certify state -'],
  args: {
    file: positional('JSON with "bookings", or one booking per line, or - for standard input'),
    ...idArgument,
    ...sandboxArgs,
  },
  async run({ args }) {
    const client = await openSandboxClient(args)
    const body = await readText(args.file)
    const id = await idOf(client.sandbox, args.id)
    // The service accepts both file formats.
    await client.request('PUT', `/certifications/${id}/state`, { body })
    note('The state was received and is being graded')
    print(args, await waitUntilJudged(client.sandbox, id), describeCertification)
  },
})

const report = command({
  meta: { name: 'report', description: 'Print the signed report of a passed certification' },
  examples: ['partnerctl certify report --output report.jws'],
  args: {
    ...idArgument,
    output: option('Write the report to this file instead of standard output', 'file'),
    ...sandboxArgs,
  },
  async run({ args }) {
    const { sandbox } = await openSandboxClient(args)
    const text = await sandbox.certifications.report(await idOf(sandbox, args.id))
    if (args.output) await write(args.output, `${text}\n`)
    print(args, { report: text }, () => (args.output ? `Written to ${args.output}` : text))
  },
})

const verify = command({
  meta: {
    name: 'verify',
    description: 'Verify a signed report; exits with 1 if it is invalid or has expired',
  },
  examples: [
    'partnerctl certify verify report.jws --base-url https://partners.example.com',
    'partnerctl certify verify report.jws --base-url https://partners.example.com --jwks jwks.json',
  ],
  args: {
    file: positional('File with the report'),
    'base-url': sandboxArgs['base-url'],
    jwks: option('File with the public keys, instead of those of the service', 'file'),
  },
  async run({ args }) {
    const base = args['base-url'] ?? process.env.PARTNER_BASE_URL
    if (!base) throw new UsageError('Use --base-url to name the service that issued the report')
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

type Sandbox = SandboxClient['sandbox']

/** Returns the id given on the command line, or the newest certification's id. */
async function idOf(sandbox: Sandbox, id: string | undefined, signal?: AbortSignal): Promise<number> {
  if (id !== undefined) return parseId(id)
  const [newest] = await sandbox.certifications.list({ signal })
  if (!newest) throw new ChecksFailedError('This key has no certification yet: run partnerctl certify start')
  return newest.id
}

const maxJudgePolls = 4

/** Returns the certification once the uploaded state has been judged, or after a few seconds at the latest. */
async function waitUntilJudged({ certifications }: Sandbox, id: number): Promise<Certification> {
  let found = await certifications.get(id)
  for (let tries = 0; tries < maxJudgePolls && found.next?.action === 'upload_state'; tries += 1) {
    await setTimeout(1000)
    found = await certifications.get(id)
  }
  return found
}

/**
 * Prints a note for each decided case and each next step until the certification ends. Returns null if the command is
 * interrupted before the certification ends. The client waits out limits, failures and lost connections, because a
 * build server must not mistake them for a failed product.
 */
function follow(sandbox: Sandbox, named: string | undefined): Promise<Certification | null> {
  const stop = stopOnSignal()
  return untilStopped(stop, async () => {
    const id = await idOf(sandbox, named, stop)
    const decided = new Set<string>()
    let asked = ''
    for (;;) {
      const found = await sandbox.certifications.get(id, { signal: stop })
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
      await sleep(followSeconds, stop)
    }
  })
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, text).catch((error) => {
    throw new UsageError(`Cannot write "${file}": ${reasonOf(error)}`)
  })
}

export const certify = defineCommand({ subCommands: { start, status, state, report, verify } })

import { defineCommand } from 'citty'
import type { Schemas } from '../../../client/src/index.ts'
import { command, flag, option, positional } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { print, record } from '../../shared/output.ts'
import { printList } from '../../shared/table.ts'
import { readText } from '../../shared/values.ts'
import { askSecret } from '../ask-secret.ts'
import { clientArgs, clientFor, defaultBaseUrl, openClient } from '../client.ts'
import {
  changeProfiles,
  type Profiles,
  readProfiles,
  requireProfilesFile,
  requireSafeAddress,
} from '../profiles.ts'
import { requireKey } from '../service.ts'

export const me = command({
  examples: ['partnerctl me', 'partnerctl me --sandbox --json'],
  args: clientArgs,
  async run({ args }) {
    const { host } = await openClient(args)
    print(args, await host.get(), record)
  },
})

export const key = command({
  examples: ['partnerctl key', 'partnerctl key --profile production --json'],
  args: clientArgs,
  async run({ args }) {
    const client = await openClient(args)
    print(args, await client.key.get(), describeKey)
  },
})

/** Describes a key as human-readable text. */
function describeKey({ host, permissions, allowed_from, rate_limit, usage, ...key }: Schemas['Key']): string {
  const { limit, remaining, window_seconds } = rate_limit
  return record({
    ...key,
    host: `${host.name} <${host.email}>`,
    permissions: permissions.join(', '),
    // Older services do not return `allowed_from`.
    allowed_from: (allowed_from ?? []).join(', ') || 'anywhere',
    rate_limit: `${remaining} of ${limit} requests left in ${window_seconds} s`,
    used: `${usage.count} times, last ${usage.last_used_at ?? 'never'}`,
  })
}

export const login = command({
  examples: [
    'partnerctl login --sandbox',
    'partnerctl login --profile production --base-url https://partners.example.com < key.txt',
  ],
  args: {
    profile: { type: 'string', default: 'default', description: 'Name of the profile' },
    'base-url': option('Address of the service (PARTNER_BASE_URL)', 'url'),
    sandbox: flag('Use the sandbox with this profile'),
  },
  async run({ args }) {
    const base_url = args['base-url'] ?? process.env.PARTNER_BASE_URL ?? defaultBaseUrl
    requireSafeAddress(base_url)
    const sandbox = args.sandbox ?? false
    // A file that cannot be read, or kept, is reported before the user types a key.
    requireProfilesFile()
    await readProfiles()
    const key = await askForKey()
    const host = await clientFor(base_url, sandbox, key).host.get()
    await changeProfiles(({ profiles }) => ({
      current: args.profile,
      profiles: { ...profiles, [args.profile]: { base_url, key, sandbox } },
    }))
    print(
      args,
      { profile: args.profile, base_url, sandbox, host: host.name },
      ({ sandbox: isSandbox, ...rest }) => record({ ...rest, sandbox: isSandbox ? 'yes' : 'no' }),
    )
  },
})

async function askForKey(): Promise<string> {
  const answer = process.stdin.isTTY ? await askSecret('API key') : await readText('-')
  if (!answer?.trim()) throw new UsageError('No API key was given')
  return requireKey(answer.trim(), 'the input')
}

function showProfiles(args: { json?: boolean | undefined }, { current, profiles }: Profiles): void {
  const rows = Object.entries(profiles).map(([name, { base_url, sandbox }]) => ({
    name,
    base_url,
    sandbox,
    current: name === current,
  }))
  printList(args, rows, {
    NAME: 'name',
    ADDRESS: 'base_url',
    SANDBOX: (row) => (row.sandbox ? 'yes' : 'no'),
    CURRENT: (row) => (row.current ? '*' : ''),
  })
}

const name = positional('Name of the profile')

/** Defines a command that changes an existing profile and then shows all profiles. */
function profileCommand(
  verb: string,
  description: string,
  example: string,
  change: (profiles: Profiles, name: string) => Profiles,
) {
  return command({
    meta: { name: verb, description },
    examples: [example],
    args: { name },
    async run({ args }) {
      const changed = await changeProfiles((profiles) => {
        if (!Object.hasOwn(profiles.profiles, args.name))
          throw new UsageError(`There is no profile "${args.name}"`)
        return change(profiles, args.name)
      })
      showProfiles(args, changed)
    },
  })
}

const list = command({
  meta: { name: 'list', description: 'List the profiles; keys are not shown' },
  examples: ['partnerctl profiles list'],
  run: async ({ args }) => showProfiles(args, await readProfiles()),
})

const use = profileCommand(
  'use',
  'Make a profile the current one',
  'partnerctl profiles use production',
  ({ profiles }, wanted) => ({ current: wanted, profiles }),
)

const remove = profileCommand(
  'remove',
  'Delete a profile and its key',
  'partnerctl profiles remove default',
  ({ current, profiles }, unwanted) => {
    const { [unwanted]: _, ...others } = profiles
    return { current: current === unwanted ? null : current, profiles: others }
  },
)

export const profiles = defineCommand({
  subCommands: { list, use, remove },
})

import { isCancel, password } from '@clack/prompts'
import { Type } from '@sinclair/typebox'
import { clientFor, defaultBaseUrl } from '../../client/client.ts'
import { readProfiles, requireSafeAddress, writeProfiles } from '../../client/profile.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print, record } from '../../output.ts'

export const login = command({
  examples: [
    'partnerctl login --sandbox',
    'partnerctl login --profile production --base-url https://partners.example.com < key.txt',
  ],
  args: {
    profile: { type: 'string', default: 'default', description: 'Name of the profile' },
    'base-url': {
      type: 'string',
      description: 'Address of the service (PARTNER_BASE_URL)',
      valueHint: 'url',
    },
    sandbox: { type: 'boolean', description: 'Use the sandbox with this profile' },
  },
  async run({ args }) {
    const base_url = args['base-url'] ?? process.env.PARTNER_BASE_URL ?? defaultBaseUrl
    requireSafeAddress(base_url)
    const sandbox = args.sandbox ?? false
    const key = await askForKey()
    const { data } = await clientFor(base_url, sandbox, key).send<{ name: string }>('GET', '/me', {
      expects: Type.Object({ name: Type.String() }),
    })
    const { profiles } = await readProfiles()
    await writeProfiles({
      current: args.profile,
      profiles: { ...profiles, [args.profile]: { base_url, key, sandbox } },
    })
    print(
      args,
      { profile: args.profile, base_url, sandbox, host: data.name },
      ({ sandbox: isSandbox, ...rest }) => record({ ...rest, sandbox: isSandbox ? 'yes' : 'no' }),
    )
  },
})

async function askForKey(): Promise<string> {
  const answer = process.stdin.isTTY ? await password({ message: 'API key' }) : await Bun.stdin.text()
  if (isCancel(answer) || !answer.trim()) throw new UsageError('No API key was given')
  return answer.trim()
}

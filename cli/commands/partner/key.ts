import type { KeyView } from '../../../src/access/keys/schema.ts'
import { readKey } from '../../client/account.ts'
import { clientArgs, openClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { print, record } from '../../output.ts'

export const key = command({
  examples: ['partnerctl key', 'partnerctl key --profile production --json'],
  args: clientArgs,
  async run({ args }) {
    print(args, (await readKey(await openClient(args))) as KeyView, describe)
  },
})

/** Describes a key for a person. */
function describe({ host, permissions, rate_limit, usage, ...key }: KeyView): string {
  const { limit, remaining, window_seconds } = rate_limit
  return record({
    ...key,
    host: `${host.name} <${host.email}>`,
    permissions: permissions.join(', '),
    rate_limit: `${remaining} of ${limit} requests left in ${window_seconds} s`,
    used: `${usage.count} times, last ${usage.last_used_at ?? 'never'}`,
  })
}

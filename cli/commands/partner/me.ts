import { clientArgs, openClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { print, record } from '../../output.ts'

export const me = command({
  examples: ['partnerctl me', 'partnerctl me --sandbox --json'],
  args: clientArgs,
  async run({ args }) {
    const client = await openClient(args)
    const { data } = await client.send<Record<string, string>>('GET', '/me')
    print(args, data, record)
  },
})

import { Type } from '@sinclair/typebox'
import { clientArgs, openClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { print, record } from '../../output.ts'

const Host = Type.Object({ name: Type.String(), email: Type.String() })

export const me = command({
  examples: ['partnerctl me', 'partnerctl me --sandbox --json'],
  args: clientArgs,
  async run({ args }) {
    const client = await openClient(args)
    const { data } = await client.send<Record<string, string>>('GET', '/me', { expects: Host })
    print(args, data, record)
  },
})

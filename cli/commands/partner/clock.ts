import { Type } from '@sinclair/typebox'
import { openSandboxClient, sandboxArgs } from '../../client/client.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print, record } from '../../output.ts'
import { parseDuration } from '../../values.ts'

const Clock = Type.Object({ now: Type.String(), advanced_seconds: Type.Integer() })

export const clock = command({
  examples: ['partnerctl clock', 'partnerctl clock advance 25h'],
  args: {
    action: { type: 'positional', required: false, description: '"advance", to move the clock forward' },
    by: { type: 'positional', required: false, description: 'How far, such as 90m, 25h or 5d' },
    ...sandboxArgs,
  },
  async run({ args }) {
    const { action, by } = args
    if (action !== undefined && action !== 'advance')
      throw new UsageError(`"${action}" is not "advance": the clock only moves forward`)
    if (action === 'advance' && by === undefined)
      throw new UsageError('How far? For example: partnerctl clock advance 25h')
    const body = by === undefined ? undefined : JSON.stringify({ advance_seconds: parseDuration(by) })
    const client = await openSandboxClient(args)
    const { data } = await client.send<{ now: string; advanced_seconds: number }>(
      body === undefined ? 'GET' : 'POST',
      '/clock',
      { expects: Clock, ...(body === undefined ? {} : { body }) },
    )
    print(args, data, record)
  },
})

import { Type } from '@sinclair/typebox'
import { defineCommand } from 'citty'
import { openSandboxClient, sandboxArgs } from '../../client/client.ts'
import { command } from '../../command.ts'
import { print, table } from '../../output.ts'
import { readText } from '../../read-text.ts'

const Rules = Type.Object({
  rules: Type.Array(
    Type.Object({
      fault: Type.String(),
      operation: Type.Union([Type.String(), Type.Null()]),
      event: Type.Union([Type.String(), Type.Null()]),
      left: Type.Object({ after: Type.Integer(), times: Type.Integer() }),
    }),
  ),
})

interface Faults {
  rules: {
    fault: string
    operation: string | null
    event: string | null
    left: { after: number; times: number }
  }[]
}

function describe({ rules }: Faults): string {
  if (rules.length === 0) return 'No faults'
  return table(
    ['FAULT', 'OF', 'PASS FIRST', 'LEFT'],
    rules.map(({ fault, operation, event, left }) => [
      fault,
      operation ?? event ?? 'each',
      left.after,
      left.times,
    ]),
  )
}

type Args = Parameters<typeof openSandboxClient>[0] & Parameters<typeof print>[0]

/** Reads or changes the rules, then prints the current rules. */
async function send(args: Args, method: string, sent: { body?: string } = {}): Promise<void> {
  const client = await openSandboxClient(args)
  print(args, (await client.send<Faults>(method, '/faults', { ...sent, expects: Rules })).data, describe)
}

const list = command({
  meta: { name: 'list', description: 'List the faults that the sandbox plays, and what is left of each' },
  examples: ['partnerctl faults list'],
  args: sandboxArgs,
  async run({ args }) {
    await send(args, 'GET')
  },
})

const set = command({
  meta: { name: 'set', description: 'Have the sandbox play faults, in place of others' },
  examples: [
    'partnerctl faults set rules.json',
    `echo '{"rules": [{"fault": "lost_response", "operation": "createBooking"}]}' | partnerctl faults set -`,
  ],
  args: {
    file: {
      type: 'positional',
      required: true,
      description: 'File with the rules, or - for standard input',
    },
    ...sandboxArgs,
  },
  async run({ args }) {
    await send(args, 'PUT', { body: await readText(args.file) })
  },
})

const clear = command({
  meta: { name: 'clear', description: 'End the faults' },
  examples: ['partnerctl faults clear'],
  args: sandboxArgs,
  async run({ args }) {
    await send(args, 'DELETE')
  },
})

export const faults = defineCommand({ subCommands: { list, set, clear } })

import { readFile } from 'node:fs/promises'
import { splitRoot } from '../../../src/http/paths.ts'
import { clientArgs, openClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print } from '../../output.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export const api = command({
  examples: [
    'partnerctl api GET "/listings?per_page=5"',
    'partnerctl api POST /bookings --sandbox --data @booking.json --idempotency-key order-17',
  ],
  args: {
    method: { type: 'positional', required: true, description: methods.join(', ') },
    path: {
      type: 'positional',
      required: true,
      description: 'Path below /v1, for example /listings?per_page=5',
    },
    data: { type: 'string', description: 'JSON body, or @file, or @- for standard input', valueHint: 'json' },
    'idempotency-key': {
      type: 'string',
      description: 'Makes a retry of a create or a move safe',
      valueHint: 'key',
    },
    ...clientArgs,
  },
  async run({ args }) {
    const method = args.method.toUpperCase()
    if (!methods.includes(method))
      throw new UsageError(`"${args.method}" is not one of ${methods.join(', ')}`)
    if (!args.path.startsWith('/')) throw new UsageError('The path must begin with "/"')
    const client = await openClient(args)
    const body = args.data === undefined ? {} : { body: await readData(args.data) }
    const key = args['idempotency-key'] ? { idempotencyKey: args['idempotency-key'] } : {}
    const { envelope } = await client.send(method, splitRoot(args.path).rest, { ...body, ...key })
    print({ json: true }, envelope, String)
  },
})

async function readData(data: string): Promise<string> {
  if (!data.startsWith('@')) return data
  if (data === '@-') return Bun.stdin.text()
  return readFile(data.slice(1), 'utf8').catch(() => {
    throw new UsageError(`Cannot read "${data.slice(1)}"`)
  })
}

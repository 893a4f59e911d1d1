import { command, flag, option, positional } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { print } from '../../shared/output.ts'
import { readText } from '../../shared/values.ts'
import { clientArgs, openClient } from '../client.ts'
import { roots, splitRoot } from '../service.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export const api = command({
  examples: [
    'partnerctl api GET "/listings?per_page=5"',
    'partnerctl api POST /bookings --sandbox --data @booking.json --idempotency-key order-17',
  ],
  args: {
    method: { type: 'positional', required: true, description: methods.join(', ') },
    path: positional('Path below /v1, for example /listings?per_page=5'),
    data: option('JSON body, or @file, or @- for standard input', 'json'),
    'idempotency-key': option('Makes it safe to retry the request', 'key'),
    strict: flag('Refuse unknown and read-only fields of the body instead of ignoring them'),
    ...clientArgs,
  },
  async run({ args }) {
    const method = args.method.toUpperCase()
    if (!methods.includes(method))
      throw new UsageError(`"${args.method}" is not one of ${methods.join(', ')}`)
    if (!args.path.startsWith('/')) throw new UsageError('The path must begin with "/"')
    const client = await openClient(args)
    const { environment, rest } = splitRoot(args.path)
    if (environment && (environment === 'sandbox') !== client.isSandbox)
      throw new UsageError(`The path names ${roots[environment]}, but the command uses ${client.root}`)
    const body = args.data === undefined ? {} : { body: await readData(args.data) }
    const key = args['idempotency-key'] ? { idempotencyKey: args['idempotency-key'] } : {}
    const headers = args.strict ? { prefer: 'handling=strict' } : {}
    const sent = client.request(method, rest, { ...body, ...key, headers })
    const { envelope } = await sent.withResponse()
    print({ json: true }, envelope, String)
  },
})

async function readData(data: string): Promise<string> {
  return data.startsWith('@') ? readText(data.slice(1)) : data
}

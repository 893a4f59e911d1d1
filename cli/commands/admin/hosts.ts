import { defineCommand } from 'citty'
import { createHost, listHosts } from '../../../src/access/hosts/store.ts'
import { toTimestamp } from '../../../src/core/clock.ts'
import { formats } from '../../../src/http/schema/formats.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print, record, table } from '../../output.ts'
import { afterArgument, cutToLimit, limitArgument, parseId, parseLimit } from '../../values.ts'
import { administer, withDatabase } from './administer.ts'

const create = command({
  meta: { name: 'create', description: 'Create a host account' },
  examples: ['partnerctl hosts create --name "Casa Gràcia" --email host@example.com'],
  args: {
    name: { type: 'string', required: true, description: 'Name of the host' },
    email: { type: 'string', required: true, description: 'E-mail address; one host for each' },
  },
  async run({ args }) {
    if (!args.name.trim()) throw new UsageError('Option --name needs a value')
    if (args.name.length > 255) throw new UsageError('Option --name takes at most 255 characters')
    if (Buffer.byteLength(args.email) > 254) throw new UsageError('Option --email takes at most 254 bytes')
    if (!formats.email.accepts(args.email))
      throw new UsageError(`"${args.email}" is not a valid e-mail address`)
    const { id, name, email } = await administer('hosts create', args.email, ({ db, clock }) =>
      createHost(db, clock, args),
    )
    print(args, { id, name, email }, record)
  },
})

const list = command({
  meta: { name: 'list', description: 'List host accounts, lowest id first' },
  examples: ['partnerctl hosts list --json', 'partnerctl hosts list --limit 100 --after 100'],
  args: { ...limitArgument('hosts'), ...afterArgument('hosts') },
  async run({ args }) {
    const limit = parseLimit(args.limit)
    const after = args.after ? parseId(args.after) : 0
    await withDatabase(async ({ db }) => {
      const found = await listHosts(db, { after, limit: limit + 1 })
      const rows = cutToLimit(found, limit, ({ id }) => `continue with --after ${id}`).map(
        ({ id, name, email, created_at }) => ({
          id,
          name,
          email,
          created_at: toTimestamp(created_at),
        }),
      )
      print(args, rows, () =>
        table(
          ['ID', 'NAME', 'EMAIL', 'CREATED'],
          rows.map((row) => [row.id, row.name, row.email, row.created_at]),
        ),
      )
    })
  },
})

export const hosts = defineCommand({
  subCommands: { create, list },
})

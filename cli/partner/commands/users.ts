import { defineCommand } from 'citty'
import type { Schemas } from '../../../client/src/index.ts'
import { command, option, positional } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { print, record } from '../../shared/output.ts'
import { printList } from '../../shared/table.ts'
import { limitArgument, parseId, parseLimit, printUpTo } from '../../shared/values.ts'
import { clientArgs, openClient } from '../client.ts'
import { parseMoment } from '../dates.ts'

const maxPerPage = 100
const columns = { ID: 'user_id', NAME: 'name', EMAIL: 'email', CREATED: 'created_at' } as const
/** Columns of erased users, who have neither a name nor an address of their own. */
const erasedColumns = { ID: 'user_id', ERASED: 'erased_at', CREATED: 'created_at' } as const

const list = command({
  meta: { name: 'list', description: 'List the users by id, find one by e-mail address, or list the erased' },
  examples: [
    'partnerctl users list',
    'partnerctl users list --email ada@example.com --json',
    'partnerctl users list --erased-after 2026-01-31T12:00:00.000000Z --json',
  ],
  args: {
    email: option('Only the user with this e-mail address', 'address'),
    'erased-after': option('Only the users who were erased after this time, by that time', 'time'),
    ...limitArgument('users', 50),
    ...clientArgs,
  },
  async run({ args }) {
    const limit = parseLimit(args.limit)
    const client = await openClient(args)
    const query = { email: args.email, erased_after: readTime(args['erased-after']) }
    const found: Schemas['UserInFull'][] = []
    for await (const user of client.users.list({ ...query, per_page: Math.min(limit + 1, maxPerPage) })) {
      found.push(user)
      if (found.length > limit) break
    }
    printUpTo(found, limit, {
      show: (shown) => printList(args, shown, query.erased_after === undefined ? columns : erasedColumns),
      hint: () => 'raise --limit to see the others',
    })
  },
})

/** @throws UsageError for a text that the service would not read as a time */
function readTime(text: string | undefined): string | undefined {
  if (text !== undefined && parseMoment(text) === null)
    throw new UsageError(`"${text}" is not a time such as 2026-01-31T12:00:00.000000Z`)
  return text
}

const get = command({
  meta: { name: 'get', description: 'Show a user' },
  examples: ['partnerctl users get 1001 --sandbox'],
  args: { user: positional('Id of the user'), ...clientArgs },
  async run({ args }) {
    const id = parseId(args.user)
    const client = await openClient(args)
    print(args, await client.users.get(id), ({ api_created, ...user }) => record(user))
  },
})

export const users = defineCommand({ subCommands: { list, get } })

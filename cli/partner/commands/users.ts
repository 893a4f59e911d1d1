import { defineCommand } from 'citty'
import type { Schemas } from '../../../client/src/index.ts'
import { command, option, positional } from '../../shared/command.ts'
import { print, printList, record } from '../../shared/output.ts'
import { limitArgument, parseId, parseLimit, printUpTo } from '../../shared/values.ts'
import { clientArgs, openClient } from '../client.ts'

const maxPerPage = 100

const list = command({
  meta: { name: 'list', description: 'List the users by id, or find one by e-mail address' },
  examples: ['partnerctl users list', 'partnerctl users list --email ada@example.com --json'],
  args: {
    email: option('Only the user with this e-mail address', 'address'),
    ...limitArgument('users', 50),
    ...clientArgs,
  },
  async run({ args }) {
    const limit = parseLimit(args.limit)
    const client = await openClient(args)
    const query = args.email === undefined ? {} : { email: args.email }
    const found: Schemas['UserInFull'][] = []
    for await (const user of client.users.list({ ...query, per_page: Math.min(limit + 1, maxPerPage) })) {
      found.push(user)
      if (found.length > limit) break
    }
    printUpTo(found, limit, {
      show: (shown) =>
        printList(args, shown, { ID: 'user_id', NAME: 'name', EMAIL: 'email', CREATED: 'created_at' }),
      hint: () => 'raise --limit to see the others',
    })
  },
})

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

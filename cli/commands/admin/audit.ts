import { defineCommand } from 'citty'
import { listActions } from '../../../src/access/audit/store.ts'
import { toTimestamp } from '../../../src/core/clock.ts'
import { command } from '../../command.ts'
import { print, table } from '../../output.ts'
import { cutToLimit, limitArgument, parseLimit } from '../../values.ts'
import { withDatabase } from './administer.ts'

const list = command({
  meta: {
    name: 'list',
    description: 'List administrative actions and the moves that partners made, latest first',
  },
  examples: ['partnerctl audit list --limit 100'],
  args: limitArgument('entries', 50),
  async run({ args }) {
    const limit = parseLimit(args.limit)
    await withDatabase(async ({ db }) => {
      const acts = cutToLimit(
        await listActions(db, limit + 1),
        limit,
        () => 'raise --limit to see older entries',
      )
      const rows = acts.map(({ at, user, machine, action, target }) => {
        return { at: toTimestamp(at), user, machine, action, target }
      })
      print(args, rows, () =>
        table(
          ['AT', 'USER', 'MACHINE', 'ACTION', 'TARGET'],
          rows.map((row) => Object.values(row)),
        ),
      )
    })
  },
})

export const audit = defineCommand({
  subCommands: { list },
})

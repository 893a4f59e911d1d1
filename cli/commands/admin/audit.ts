import { defineCommand } from 'citty'
import { type ListedAction, listActions } from '../../../src/access/audit/store.ts'
import { parseMoment, toTimestamp } from '../../../src/core/clock.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { print, table } from '../../output.ts'
import { jsonText } from '../../text.ts'
import { cutToLimit, limitArgument, oneOf, parseLimit } from '../../values.ts'
import { withDatabase } from './administer.ts'

/** Number of entries read per query when all entries are printed. */
const pageEntries = 1000

const toRow = ({
  id,
  at,
  user,
  machine,
  sudo_user,
  database_user,
  action,
  target,
  reason,
}: ListedAction) => ({
  ...{ id, at: toTimestamp(at), user, machine, sudo_user, database_user, action, target },
  reason: reason ?? null,
})

/** @throws UsageError for anything but a date or an ISO time */
function readMoment(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const moment = parseMoment(text)
  if (!moment) throw new UsageError(`Option --${name} must be a date or an ISO time`)
  return moment
}

const list = command({
  meta: {
    name: 'list',
    description: 'List administrative actions and the moves that partners made, latest first',
  },
  examples: [
    'partnerctl audit list --limit 100',
    'partnerctl audit list --since 2026-11-01 --until 2026-12-01 --output ndjson',
  ],
  args: {
    after: { type: 'string', description: 'Go on with those older than the entry with this id' },
    since: { type: 'string', description: 'Only those from this date or ISO time on' },
    until: { type: 'string', description: 'Only those before this date or ISO time' },
    output: { type: 'string', description: 'ndjson: all of them, one in a line, without a limit' },
    ...limitArgument('entries', 50),
  },
  async run({ args }) {
    const limit = parseLimit(args.limit)
    if (args.output !== undefined) oneOf(['ndjson'], args.output)
    if (args.output !== undefined && args.json) throw new UsageError('Give either --output or --json')
    const question = {
      after: args.after,
      since: readMoment('since', args.since),
      until: readMoment('until', args.until),
    }
    await withDatabase(async ({ db }) => {
      if (args.output !== undefined) {
        for (let { after } = question; ; ) {
          const page = await listActions(db, { ...question, after }, pageEntries)
          for (const entry of page) process.stdout.write(`${jsonText(toRow(entry))}\n`)
          after = page.at(-1)?.id
          if (page.length < pageEntries) return
        }
      }
      const found = await listActions(db, question, limit + 1)
      const acts = cutToLimit(found, limit, (last) => `go on with --after ${last.id}`)
      const rows = acts.map(toRow)
      print(args, rows, () =>
        table(
          ['ID', 'AT', 'USER', 'MACHINE', 'SUDO', 'DATABASE', 'ACTION', 'TARGET', 'REASON'],
          rows.map((row) => Object.values(row)),
        ),
      )
    })
  },
})

export const audit = defineCommand({
  subCommands: { list },
})

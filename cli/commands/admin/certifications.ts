import { defineCommand } from 'citty'
import { listAllCertifications } from '../../../src/certification/store.ts'
import { toTimestamp, toTimestampOrNull } from '../../../src/core/clock.ts'
import { sandboxDatabase } from '../../../src/sandbox/store.ts'
import { command } from '../../command.ts'
import { print, table } from '../../output.ts'
import { cutToLimit, limitArgument, parseId, parseLimit } from '../../values.ts'
import { withDatabase } from './administer.ts'

const list = command({
  meta: { name: 'list', description: 'List the certifications of all keys, newest first' },
  examples: ['partnerctl certifications list --host 7'],
  args: {
    host: { type: 'string', description: 'Only those of this host, by its id' },
    ...limitArgument('certifications', 50),
  },
  async run({ args }) {
    const limit = parseLimit(args.limit)
    const hostId = args.host === undefined ? undefined : parseId(args.host)
    await withDatabase(async ({ db }) => {
      const found = await listAllCertifications(sandboxDatabase(db), { hostId, limit: limit + 1 })
      const kept = cutToLimit(found, limit, () => 'raise --limit to see older ones')
      const rows = kept.map((one) => ({
        id: one._id,
        host_id: one.of_host,
        key_id: one.key_id,
        profiles: one.profiles.join(', '),
        status: one.status,
        failed: one.cases.filter(({ status }) => status === 'failed').map(({ name }) => name),
        started_at: toTimestamp(one.started_at),
        ended_at: toTimestampOrNull(one.ended_at),
      }))
      print(args, rows, () =>
        table(
          ['ID', 'HOST', 'KEY', 'PROFILES', 'STATUS', 'FAILED', 'STARTED', 'ENDED'],
          rows.map(({ failed, ...row }) => [
            ...[row.id, row.host_id, row.key_id, row.profiles, row.status],
            ...[failed.join(', ') || null, row.started_at, row.ended_at],
          ]),
        ),
      )
    })
  },
})

export const certifications = defineCommand({ subCommands: { list } })

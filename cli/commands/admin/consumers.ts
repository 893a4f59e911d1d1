import { defineCommand } from 'citty'
import { consumersByLag, type Lagging } from '../../../src/changes/consumers/lag.ts'
import { toTimestampOrNull } from '../../../src/core/clock.ts'
import { toVersion } from '../../../src/versions/format.ts'
import { command } from '../../command.ts'
import { print, table } from '../../output.ts'
import { cutToLimit, limitArgument, parseLimit } from '../../values.ts'
import { withDatabase } from './administer.ts'

function toRecord({ consumer, oldestPending }: Lagging) {
  const { host_id, key_id, feed, name, acknowledged, acknowledged_at } = consumer
  return {
    host_id,
    key_id,
    feed,
    name,
    acknowledged: acknowledged && toVersion(acknowledged),
    acknowledged_at: toTimestampOrNull(acknowledged_at),
    oldest_pending_at: toTimestampOrNull(oldestPending),
  }
}

const list = command({
  meta: {
    name: 'list',
    description: 'List the consumers of all keys, the one with the oldest pending change first',
  },
  examples: ['partnerctl consumers list'],
  args: limitArgument('consumers'),
  async run({ args }) {
    const limit = parseLimit(args.limit)
    await withDatabase(async ({ db, clock }) => {
      const found = await consumersByLag(db, clock())
      const shown = cutToLimit(found, limit, () => 'those that are furthest behind are shown first')
      const rows = shown.map(toRecord)
      print(args, rows, () =>
        table(
          ['HOST', 'KEY', 'FEED', 'NAME', 'ACKNOWLEDGED', 'ACKNOWLEDGED AT', 'OLDEST PENDING'],
          rows.map((row) => [
            row.host_id,
            row.key_id,
            row.feed,
            row.name,
            row.acknowledged,
            row.acknowledged_at,
            row.oldest_pending_at,
          ]),
        ),
      )
    })
  },
})

export const consumers = defineCommand({
  subCommands: { list },
})

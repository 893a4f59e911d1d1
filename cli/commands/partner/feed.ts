import { defineCommand } from 'citty'
import { isCalendarDate } from '../../../src/clock.ts'
import { isFeedTime } from '../../../src/schema/formats.ts'
import { feedPath, readAccount } from '../../client/account.ts'
import { clientArgs, openClient, type PartnerClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { note, print } from '../../output.ts'
import { findEarlierState, openCheckpoint } from '../../poll/checkpoint.ts'
import { type OutputFormat, outputFor } from '../../poll/handlers.ts'
import { stopOnSignal, withRetries } from '../../poll/patience.ts'
import { poll as pollFeed } from '../../poll/poller.ts'
import { openProgress } from '../../poll/progress.ts'
import { parseDuration, parseId } from '../../values.ts'

const poll = command({
  meta: { name: 'poll', description: 'Deliver every new or changed booking, once each' },
  examples: [
    'partnerctl feed poll --once',
    'partnerctl feed poll --interval 60s --exec ./handle-change',
    'partnerctl feed poll --once --output ndjson --since "2026-11-20 12:00:05"',
  ],
  args: {
    once: { type: 'boolean', description: 'Stop when there are no more changes' },
    interval: { type: 'string', default: '60s', description: 'Pause between polls' },
    since: { type: 'string', description: 'Start after this version instead of the checkpoint' },
    listing: { type: 'string', description: 'Only this listing' },
    'checkout-after': { type: 'string', description: 'Only stays that end on or after this date' },
    state: { type: 'string', description: 'File that keeps the checkpoint', valueHint: 'file' },
    exec: { type: 'string', description: 'Command to run for each change', valueHint: 'command' },
    output: { type: 'enum', options: ['table', 'ndjson', 'csv'], description: 'How changes are printed' },
    ...clientArgs,
  },
  async run({ args }) {
    const interval = parseDuration(args.interval)
    if (args.listing !== undefined) parseId(args.listing)
    if (args.since !== undefined && !isFeedTime(args.since))
      throw new UsageError(`"${args.since}" is not a valid version`)
    if (args['checkout-after'] !== undefined && !isCalendarDate(args['checkout-after'])) {
      throw new UsageError(`"${args['checkout-after']}" is not a valid date`)
    }
    const client = await openClient(args)
    const stop = stopOnSignal()
    const account = await withRetries(() => readAccount(client), stop)
    if (account === null) return
    const filters = { listing_id: args.listing, checkout_after: args['checkout-after'] }
    const scope = { root: client.root, account, filters }
    const checkpoint = await openCheckpoint({ ...scope, path: args.state, since: args.since })
    if (checkpoint.version === undefined && !args.state) await mentionEarlierState(scope, client)
    const output = outputFor({ exec: args.exec, output: args.json ? 'json' : (args.output as OutputFormat) })
    const progress = openProgress(
      Boolean(process.stderr.isTTY) && (args.exec !== undefined || !process.stdout.isTTY),
    )
    try {
      await pollFeed({
        client,
        path: feedPath,
        filters,
        checkpoint,
        handle: output.handle,
        intervalSeconds: args.once ? null : interval,
        progress,
        stop,
      })
    } finally {
      progress.stop()
      await output.end()
      await checkpoint.close()
    }
  },
})

async function mentionEarlierState(
  scope: Parameters<typeof findEarlierState>[0],
  { profile }: PartnerClient,
): Promise<void> {
  const earlier = await findEarlierState(scope, profile)
  if (!earlier) return
  note(
    `"${earlier.file}" was written by an earlier version and does not name its account: starting with the oldest booking. If it belongs to this account, continue with --since "${earlier.version}"`,
  )
}

const show = command({
  meta: { name: 'show', description: 'Show one booking in full' },
  examples: ['partnerctl feed show 5002 --sandbox'],
  args: {
    booking_id: { type: 'positional', required: true, description: 'Id of the booking' },
    ...clientArgs,
  },
  async run({ args }) {
    const client = await openClient(args)
    const { data } = await client.send<{ Booking: object }>(
      'GET',
      `${feedPath}/${encodeURIComponent(args.booking_id)}`,
    )
    print({ json: true }, data.Booking, String)
  },
})

export const feed = defineCommand({
  subCommands: { poll, show },
})

import type { ArgsDef } from 'citty'
import { isFeedTime } from '../../../src/http/schema/formats.ts'
import { readAccount } from '../../client/account.ts'
import { clientArgs, openClient, type PartnerClient } from '../../client/client.ts'
import { UsageError } from '../../errors.ts'
import { type Checkpoint, openCheckpoint } from '../../poll/checkpoint.ts'
import { openConsumer } from '../../poll/consumer.ts'
import type { Feed, Item } from '../../poll/feeds.ts'
import { type OutputFormat, outputFor } from '../../poll/handlers.ts'
import { stopOnSignal, withRetries } from '../../poll/patience.ts'
import { type AtTheEnd, poll } from '../../poll/poller.ts'
import { openProgress } from '../../poll/progress.ts'
import { parseDuration } from '../../values.ts'

/** Arguments of every command that polls a feed. */
export const pollArgs = {
  once: { type: 'boolean', description: 'Stop when there are no more changes' },
  follow: {
    type: 'boolean',
    description: 'Keep one request open that is answered as soon as there is a change',
  },
  interval: { type: 'string', default: '60s', description: 'Pause between polls' },
  since: { type: 'string', description: 'Start after this version instead of the checkpoint' },
  state: { type: 'string', description: 'File that keeps the checkpoint', valueHint: 'file' },
  consumer: {
    type: 'string',
    description: 'Name under which the service keeps the checkpoint, instead of a file',
    valueHint: 'name',
  },
  exec: { type: 'string', description: 'Command to run for each change', valueHint: 'command' },
  output: { type: 'enum', options: ['table', 'ndjson', 'csv'], description: 'How changes are printed' },
  ...clientArgs,
} as const satisfies ArgsDef

type Filters = Record<string, string | undefined>

/** The values of {@link pollArgs}. */
type PollValues = Parameters<typeof openClient>[0] & {
  once?: boolean | undefined
  follow?: boolean | undefined
  interval: string
  since?: string | undefined
  state?: string | undefined
  consumer?: string | undefined
  exec?: string | undefined
  output?: string | undefined
  json?: boolean | undefined
}

/**
 * Polls a feed until it is stopped or, with `--once`, until no changes are left.
 *
 * @throws UsageError for conflicting arguments
 */
export async function runPoll<T extends Item>(
  feed: Feed<T>,
  args: PollValues,
  filters: Filters,
): Promise<void> {
  const atTheEnd = endOf(args)
  if (args.consumer !== undefined) requireWholeFeed(args, filters)
  if (args.since !== undefined && !isFeedTime(args.since))
    throw new UsageError(`"${args.since}" is not a valid version`)
  const client = await openClient(args)
  const stop = stopOnSignal()
  const position = args.consumer
    ? () => openConsumer(client, feed, args.consumer as string)
    : () => openFile(client, feed, args, filters)
  const checkpoint = await withRetries(position, stop)
  if (checkpoint === null) return
  const output = outputFor(feed, {
    exec: args.exec,
    output: args.json ? 'json' : (args.output as OutputFormat),
  })
  const progress = openProgress(
    Boolean(process.stderr.isTTY) && (args.exec !== undefined || !process.stdout.isTTY),
    feed.name,
  )
  try {
    await poll({ client, feed, filters, checkpoint, handle: output.handle, atTheEnd, progress, stop })
  } finally {
    progress.stop()
    await output.end()
    await checkpoint.close()
  }
}

/** Opens a poll's checkpoint in a file, which belongs to the key's account. */
async function openFile<T extends Item>(
  client: PartnerClient,
  feed: Feed<T>,
  args: PollValues,
  filters: Filters,
): Promise<Checkpoint> {
  const account = await readAccount(client)
  const scope = {
    feed: feed.name === 'messages' ? feed.name : undefined,
    root: client.root,
    account,
    filters,
  }
  return openCheckpoint({ ...scope, path: args.state, since: args.since })
}

/** Rejects options that conflict with a consumer. It has one position in the feed, so a filter would skip changes. */
function requireWholeFeed({ since, state }: PollValues, filters: Filters): void {
  const others = { ...filters, since, state }
  const [other] = Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (other) throw new UsageError(`Options --consumer and --${optionOf[other] ?? other} exclude each other`)
}

/** Option names of filters, if they differ from the filters' own names. */
const optionOf: Record<string, string> = {
  listing_id: 'listing',
  checkout_after: 'checkout-after',
  booking_id: 'booking',
}

function endOf({ once, follow, interval }: PollValues): AtTheEnd {
  const seconds = parseDuration(interval)
  if (once && follow) throw new UsageError('Options --once and --follow exclude each other')
  if (once) return { end: 'stop' }
  return { end: follow ? 'follow' : 'pause', seconds }
}

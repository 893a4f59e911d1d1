import { type ArgsDef, type CommandContext, defineCommand } from 'citty'
import {
  type Feed,
  type FeedFilters,
  type FeedPace,
  type FeedPage,
  isCalendarDate,
} from '../../../client/src/index.ts'
import { command, type commonArgs, flag, option, positional } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { note, print } from '../../shared/output.ts'
import { standardError, standardOutput } from '../../shared/streams.ts'
import { parseDuration, parseId } from '../../shared/values.ts'
import { clientArgs, openClient, type PartnerClient } from '../client.ts'
import { requireStateFolder } from '../folders.ts'
import { noteNewerVersion } from '../newer-version.ts'
import {
  aheadText,
  bookingFeed,
  type Item,
  maxWaitSeconds,
  messageFeed,
  type PolledFeed,
} from '../poll/feeds.ts'
import { handOver } from '../poll/handler-command.ts'
import { JsonPrinter, LinePrinter } from '../poll/printers.ts'
import { openProgress, type Progress } from '../poll/progress.ts'
import { accountOf, type Checkpoint, openCheckpoint } from '../poll/state-file.ts'
import { requireVersion } from '../service.ts'
import { sleep, stopOnSignal, untilStopped } from '../stop.ts'

/**
 * `feed poll` and `messages poll`. A poll takes these steps, which `runPoll` and `handlePages` take one after another:
 *
 * 1. It checks its options and opens the client.
 * 2. It opens the state file that keeps its checkpoint (`poll/state-file.ts`), unless it has a consumer.
 * 3. It reads the feed page by page, as `Feed.pages()` of the client yields it. Each change is handed to
 *    a command (`poll/handler-command.ts`) or printed (`poll/printers.ts`), and then its version is saved.
 * 4. It pauses and begins again, until it is stopped. With `--follow`, the client waits for changes instead, and pauses
 *    only if the service did not hold its request.
 */

/** Arguments of every command that polls a feed. */
const pollArgs = {
  once: flag('Stop when there are no more changes'),
  follow: flag('Keep one request open that is answered as soon as there is a change'),
  interval: option(
    'Pause between polls (default 60s); with --follow, after a request that was not held (default 5s)',
    'duration',
  ),
  since: option('Start after this version instead of the checkpoint'),
  state: option('File that keeps the checkpoint', 'file'),
  consumer: option('Name under which the service keeps the checkpoint, instead of a file', 'name'),
  exec: option('Command to run for each change', 'command'),
  output: { type: 'enum', options: ['table', 'ndjson', 'csv'], description: 'How changes are printed' },
  ...clientArgs,
} as const satisfies ArgsDef

type PollValues = CommandContext<typeof pollArgs & typeof commonArgs>['args']

/** Opens the client's feed after a version or, for a consumer, at the consumer's position. */
type OpenFeed<T extends Item> = (client: PartnerClient, after: string | undefined, pace: FeedPace) => Feed<T>

/** The value of every filter of a feed. A command that lacks one does not compile. */
type Filters<O extends 'pollBookings' | 'pollMessages'> = Record<keyof FeedFilters<O>, string | undefined>

/** Options that filter the booking feed. */
const bookingFilters = {
  listing: option('Only this listing'),
  'checkout-after': option('Only stays that end on or after this date'),
} as const satisfies ArgsDef

/** Options that filter the message feed. */
const messageFilters = {
  booking: option('Only the conversation of this booking'),
  sender: { type: 'enum', options: ['guest', 'host'], description: 'Only messages that this side sent' },
} as const satisfies ArgsDef

const pollBookings = command({
  meta: { name: 'poll', description: 'Deliver every new or changed booking, once each' },
  examples: [
    'partnerctl feed poll --once',
    'partnerctl feed poll --follow --exec ./handle-change',
    'partnerctl feed poll --once --output ndjson --since "2026-11-20 12:00:05"',
  ],
  args: {
    ...bookingFilters,
    include: {
      type: 'enum',
      options: ['detail'],
      description: 'Hand over each booking in full, as Booking',
    },
    ...pollArgs,
  },
  async run({ args }) {
    const { listing, 'checkout-after': checkoutAfter, consumer, include } = args
    if (listing !== undefined) parseId(listing)
    if (checkoutAfter !== undefined && !isCalendarDate(checkoutAfter))
      throw new UsageError(`"${checkoutAfter}" is not a valid date`)
    const filters: Filters<'pollBookings'> = { listing_id: listing, checkout_after: checkoutAfter }
    await runPoll(bookingFeed, args, filters, ({ bookings }, after, pace) =>
      bookings.feed({ include, ...(consumer === undefined ? { after, ...filters } : { consumer }), ...pace }),
    )
  },
})

const showBooking = command({
  meta: { name: 'show', description: 'Show one booking in full' },
  examples: ['partnerctl feed show 5002 --sandbox'],
  args: {
    booking_id: positional('Id of the booking'),
    ...clientArgs,
  },
  async run({ args }) {
    const { bookings } = await openClient(args)
    print({ json: true }, await bookings.get(args.booking_id), String)
  },
})

const pollMessages = command({
  meta: { name: 'poll', description: 'Deliver every new message of all conversations, once each' },
  examples: [
    'partnerctl messages poll --once',
    'partnerctl messages poll --follow --sender guest --exec ./answer-guest',
  ],
  args: {
    ...messageFilters,
    ...pollArgs,
  },
  async run({ args }) {
    const { booking, sender, consumer } = args
    if (booking !== undefined) parseId(booking)
    const filters = { booking_id: booking, sender } satisfies Filters<'pollMessages'>
    await runPoll(messageFeed, args, filters, ({ messages }, after, pace) =>
      messages.feed(consumer === undefined ? { after, ...filters, ...pace } : { consumer, ...pace }),
    )
  },
})

export const feed = defineCommand({ subCommands: { poll: pollBookings, show: showBooking } })
export const messages = defineCommand({ subCommands: { poll: pollMessages } })

/**
 * Polls a feed until it is stopped or, with `--once`, until no changes are left.
 *
 * @throws UsageError for conflicting arguments
 */
async function runPoll<T extends Item>(
  feed: PolledFeed<T>,
  args: PollValues,
  filters: Record<string, string | undefined>,
  openFeed: OpenFeed<T>,
): Promise<void> {
  const interval = args.interval === undefined ? undefined : parseDuration(args.interval)
  requireCompatible(args)
  requireVersion(args.since)
  if (args.state === undefined && args.consumer === undefined) requireStateFolder()
  // Otherwise, every change would be written nowhere and count as handled.
  if (args.exec === undefined && standardOutput.isReplaced)
    throw new Error('Standard output is closed or discards everything: nothing would read the changes')
  const client = await openClient(args, Number.POSITIVE_INFINITY)
  const stop = stopOnSignal()
  const checkpoint = await untilStopped(stop, () =>
    openCheckpointOf(client, feed.name, filters, { args, stop }),
  )
  if (checkpoint === null) return
  if (args.follow) note(describeStart(feed.name, client.root, args, checkpoint))
  noteNewerVersion(client.address, stop)
  const output = outputOf(feed, args)
  const isProgressShown = standardError.isTerminal && (args.exec !== undefined || !standardOutput.isTerminal)
  const progress = await openProgress(isProgressShown, feed.name)
  // A poll that has lost its state file ends at once, also while it waits for a change.
  const end = AbortSignal.any([stop, checkpoint.lost])
  const notes = new Notes(feed.name, client, args)
  const poll = { handle: output.handle, checkpoint, progress, notes, stop: end }
  // Without --interval, a poll that follows the feed pauses for as long as the client does by default. Without a minimum,
  // --interval 0s would have it spin while the service has no room to hold its request.
  const pauseSeconds = interval === undefined ? undefined : Math.max(minFollowPauseSeconds, interval)
  const pace = args.follow ? { wait: maxWaitSeconds, pauseSeconds } : {}
  try {
    while (!end.aborted) {
      const changes = openFeed(client, checkpoint.version, { ...pace, signal: end })
      await untilStopped(end, () => handlePages(changes, poll))
      if (args.once || args.follow) break
      await sleep(interval ?? defaultIntervalSeconds, end)
    }
    if (!stop.aborted) checkpoint.require()
  } finally {
    progress.stop()
    await output.end().finally(() => checkpoint.close())
  }
}

/** Says which feed a poll follows, and from where. */
function describeStart(
  name: PolledFeed<Item>['name'],
  root: string,
  { consumer, since }: PollValues,
  { version }: Checkpoint,
): string {
  const feed = `Following the ${name} of ${root}`
  if (consumer !== undefined) return `${feed} as the consumer "${consumer}", from where it stands`
  if (version === undefined) return `${feed} from the oldest change`
  return `${feed} after ${version}${since === undefined ? ', where the state file ended' : ''}`
}

/** Pause between two polls without `--interval`. */
const defaultIntervalSeconds = 60
/** Minimum pause of a poll that follows the feed, after a request that was not held. */
const minFollowPauseSeconds = 1

/**
 * Opens the state file, unless the poll has a consumer.
 *
 * @throws UsageError if the state file belongs to another poll
 */
async function openCheckpointOf(
  client: PartnerClient,
  feed: PolledFeed<Item>['name'],
  filters: Record<string, string | undefined>,
  { args, stop }: { args: PollValues; stop: AbortSignal },
): Promise<Checkpoint> {
  const { consumer, state, since } = args
  if (consumer !== undefined) return noFile
  const account = accountOf(client, await client.key.get({ signal: stop }))
  const followed = { feed: feed === 'messages' ? feed : undefined, root: client.root, account, filters }
  return openCheckpoint(followed, { path: state, since })
}

/** Checkpoint of a poll with a consumer. It stores nothing, because the service stores the consumer's position. */
const noFile: Checkpoint = {
  version: undefined,
  require() {},
  lost: new AbortController().signal,
  save() {},
  sync() {},
  close: async () => {},
}

/** Where the changes of a poll go. */
interface Output<T extends Item> {
  /** Handles a change, which counts as handled only once the promise resolves. */
  handle: (item: T) => Promise<void>
  /** Completes the output when the poll ends, even after a failure. */
  end(): Promise<void>
}

/** Hands each change to a command, prints it, or, with `--exec` and `--json`, does the one and then the other. */
function outputOf<T extends Item>(feed: PolledFeed<T>, { exec, json, output }: PollValues): Output<T> {
  const printer = json ? new JsonPrinter<T>() : new LinePrinter(feed, output ?? 'table')
  if (exec === undefined) return { handle: (item) => printer.print(item), end: () => printer.end() }
  if (!json) return { handle: (item) => handOver(feed, item, exec, 'stdout'), end: async () => {} }
  const handOverAndPrint = async (item: T) => {
    await handOver(feed, item, exec, 'stderr')
    await printer.print(item)
  }
  return { handle: handOverAndPrint, end: () => printer.end() }
}

/** The notes that a poll prints at most once. */
class Notes {
  private isAheadNoted = false
  private isUpToDateNoted = false

  constructor(
    private readonly feed: PolledFeed<Item>['name'],
    private readonly client: PartnerClient,
    private readonly args: PollValues,
  ) {}

  /** Says that the position is ahead of the feed, and how to start again. */
  ahead({ checkpoint, meta }: FeedPage<unknown>): void {
    if (this.isAheadNoted) return
    this.isAheadNoted = true
    const ahead = { after: checkpoint || undefined, newestVersion: meta.newest_version ?? null }
    note(aheadText(this.feed, ahead, this.args.consumer === undefined ? 'state' : 'consumer'))
  }

  /** Says on a terminal that a poll which follows the feed has handled every change. */
  upToDate(): void {
    if (this.isUpToDateNoted || !this.args.follow || !standardError.isTerminal) return
    this.isUpToDateNoted = true
    note(`Up to date with the ${this.client.isSandbox ? 'sandbox' : 'live data'}; waiting for changes`)
  }
}

/** What a poll does with its changes. */
interface Poll<T extends Item> {
  handle: Output<T>['handle']
  checkpoint: Checkpoint
  progress: Progress
  notes: Notes
  stop: AbortSignal
}

/**
 * Handles each change and then saves its version. Syncs the saved versions before the client requests the next page and,
 * with a consumer, acknowledges this one. If the loop leaves a page in the middle, it acknowledges what was handled.
 */
async function handlePages<T extends Item>(
  changes: Feed<T>,
  { handle, checkpoint, progress, notes, stop }: Poll<T>,
): Promise<void> {
  let handled = 0
  let handledOnPage: string | undefined
  try {
    for await (const page of changes.pages()) {
      const { items, meta } = page
      if (meta.ahead) {
        notes.ahead(page)
        continue
      }
      let left = meta.pagination?.total ?? items.length
      for (const item of items) {
        stop.throwIfAborted()
        checkpoint.require()
        await handle(item)
        // If this breaks: a change is handled again after a kill
        checkpoint.save(item.version)
        handledOnPage = item.version
        handled += 1
        left -= 1
        progress.update(handled, left)
      }
      checkpoint.sync()
      handledOnPage = undefined
      if (left > 0) continue
      notes.upToDate()
      handled = 0
    }
  } finally {
    await changes.acknowledge(handledOnPage)
  }
}

/** @throws UsageError for options that cannot be used together; Error for one that this system does not support */
function requireCompatible(args: PollValues): void {
  if (args.once && args.follow) throw new UsageError('Options --once and --follow cannot be used together')
  for (const other of ['json', 'exec'] as const)
    if (args.output !== undefined && args[other])
      throw new UsageError(`Options --${other} and --output cannot be used together`)
  if (args.consumer !== undefined) requireWholeFeed(args)
  // It needs `sh` and process groups.
  if (args.exec !== undefined && process.platform === 'win32')
    throw new Error('Option --exec does not work on Windows itself: run partnerctl in WSL')
}

/** Options that exclude `--consumer`, because a consumer follows the whole feed and must not skip changes. */
const narrowing = [...Object.keys(bookingFilters), ...Object.keys(messageFilters), 'since', 'state']

function requireWholeFeed(args: PollValues): void {
  const other = Object.entries(args).find(([name, value]) => narrowing.includes(name) && value !== undefined)
  if (other) throw new UsageError(`Options --consumer and --${other[0]} cannot be used together`)
}

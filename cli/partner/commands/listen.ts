import type { FeedPace } from '../../../client/src/index.ts'
import { command, option, requiredOption } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { jsonText, noJsonInStreams, note, printLine, streamArgs } from '../../shared/output.ts'
import { oneOf, readText } from '../../shared/values.ts'
import { clientArgs, openClient, type PartnerClient } from '../client.ts'
import { type ForwardedHint, forward } from '../forward.ts'
import {
  type HintData,
  type HintEvent,
  hintBody,
  hintEvents,
  isWebhookSecret,
  makeWebhookSecret,
} from '../hint.ts'
import { noteNewerVersion } from '../newer-version.ts'
import { aheadText, maxWaitSeconds, peekItem } from '../poll/feeds.ts'
import { keepFromProxy } from '../proxy.ts'
import { requireVersion } from '../service.ts'
import { stopOnSignal, untilStopped } from '../stop.ts'

/**
 * Returns the address of the program that gets the hints.
 *
 * @throws UsageError for anything but an http or https address without credentials
 */
function readTarget(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new UsageError(
      'Option --forward-to must be an address that starts with http:// or https://, without a login',
    )
  keepFromProxy(url.href)
  return url.href
}

/** @throws UsageError for an unknown event */
function readEvents(text: string | undefined): HintEvent[] {
  return text === undefined
    ? [...hintEvents]
    : [...new Set(text.split(',').map((word) => oneOf(hintEvents, word.trim())))]
}

/** Reads the secret from a file or the environment, or generates and shows a new secret. */
async function readSecret(file: string | undefined): Promise<string> {
  const given = file === undefined ? process.env.PARTNER_WEBHOOK_SECRET : await readText(file)
  if (given === undefined) {
    const made = makeWebhookSecret()
    note(`Signed with ${made}`)
    return made
  }
  if (!isWebhookSecret(given.trim()))
    throw new UsageError('The secret must be "whsec_" with 24 to 64 bytes in base64')
  return given.trim()
}

function describe({
  event,
  booking_id,
  status,
  attempts,
  response_status,
  error,
  milliseconds,
}: ForwardedHint): string {
  const response = response_status === null ? `no response (${error})` : `responded ${response_status}`
  return `${event} of booking ${booking_id}: ${status}, ${response} in ${milliseconds} ms${attempts > 1 ? `, attempt ${attempts}` : ''}`
}

export const listen = command({
  examples: [
    'partnerctl listen --forward-to http://localhost:4000/hooks',
    'partnerctl listen --forward-to http://localhost:4000/hooks --events message.created --since "2026-11-20 12:00:05"',
  ],
  args: {
    'forward-to': requiredOption('Address of a program on this machine', 'url'),
    events: option(`Only these, separated by commas: ${hintEvents.join(', ')}`),
    since: option('Also forward changes after this version (default: only new changes)'),
    'secret-file': option('File that holds the secret to sign with (or PARTNER_WEBHOOK_SECRET)', 'path'),
    ...streamArgs,
    ...clientArgs,
  },
  whyNoJson: noJsonInStreams,
  async run({ args }) {
    const isJson = args.output === 'ndjson'
    const url = readTarget(args['forward-to'])
    const events = readEvents(args.events)
    requireVersion(args.since)
    const secret = await readSecret(args['secret-file'])
    const client = await openClient(args, Number.POSITIVE_INFINITY)
    const stop = stopOnSignal()
    const receiver = { url, secret, stop }
    noteNewerVersion(client.address, stop)
    const follow = async (event: HintEvent) => {
      const { feed, hints } = sources[event]
      const after = args.since ?? (await latestVersion(client, feed, stop))
      note(`Listening for ${event}${after ? ` after ${after}` : ''}`)
      const { ahead } = await peekItem(client, feed, { updated_after: after }, stop)
      if (ahead) note(aheadText(feed, ahead, 'since'))
      for await (const data of hints(client, { after, wait: maxWaitSeconds, signal: stop })) {
        const body = hintBody(event, data)
        const delivery = await forward(receiver, event, data.booking_id, body)
        await printLine(isJson ? jsonText(delivery) : describe(delivery))
      }
    }
    await Promise.all(events.map((event) => untilStopped(stop, () => follow(event))))
  },
})

interface Source {
  feed: 'bookings' | 'messages'
  /** Iterates over the feed's changes, yielding the `data` of each change's hint. */
  hints(client: PartnerClient, options: FeedPace & { after: string | undefined }): AsyncIterable<HintData>
}

const sources: Record<HintEvent, Source> = {
  'booking.changed': {
    feed: 'bookings',
    async *hints({ bookings }, options) {
      for await (const { booking_id, listing_id, version } of bookings.feed(options))
        yield { booking_id, listing_id, version }
    },
  },
  'message.created': {
    feed: 'messages',
    async *hints({ messages }, options) {
      for await (const { id, booking_id, listing_id, version } of messages.feed(options))
        yield { booking_id, listing_id, version, message_id: id }
    },
  },
}

/**
 * Returns the version of a feed's latest change, or undefined if the feed is empty. Changes after this version are new
 * to the listener.
 */
async function latestVersion(client: PartnerClient, feed: Source['feed'], stop: AbortSignal) {
  const { total } = await peekItem(client, feed, {}, stop)
  let { version: after } = await peekItem(client, feed, { page: Math.max(1, total) }, stop)
  // If this key has read the page before, the page may start where it started then, and newer changes may follow it.
  for await (const { version } of client[feed].feed({ after, signal: stop })) after = version
  return after
}

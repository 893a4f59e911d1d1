import { readFile } from 'node:fs/promises'
import { hintOf, type WebhookEvent, webhookEvents } from '../../../src/changes/webhooks/hint.ts'
import { isWebhookSecret, makeWebhookSecret } from '../../../src/changes/webhooks/signature.ts'
import { isFeedTime } from '../../../src/http/schema/formats.ts'
import { clientArgs, openClient, type PartnerClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { type Delivery, forward, type Receiver } from '../../listen/forward.ts'
import { bookings, fleetingCheckpoint, latestVersion, messages, type Source } from '../../listen/sources.ts'
import { isNdjson, note, streamArgs } from '../../output.ts'
import type { Item } from '../../poll/feeds.ts'
import { write } from '../../poll/handlers.ts'
import { stopOnSignal, withRetries } from '../../poll/patience.ts'
import { poll } from '../../poll/poller.ts'
import { openProgress } from '../../poll/progress.ts'
import { jsonText } from '../../text.ts'
import { oneOf } from '../../values.ts'

/** @throws UsageError for anything but an http or https address without credentials */
function readTarget(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new UsageError(
      'Option --forward-to must be an address that starts with http:// or https://, without a login',
    )
  return url.href
}

/** @throws UsageError for an event that does not exist */
function readEvents(text: string | undefined): WebhookEvent[] {
  return text === undefined
    ? [...webhookEvents]
    : [...new Set(text.split(',').map((word) => oneOf(webhookEvents, word.trim())))]
}

/** Reads the secret from a file or the environment, or generates and shows a new secret. */
async function readSecret(file: string | undefined): Promise<string> {
  const given = file === undefined ? process.env.PARTNER_WEBHOOK_SECRET : await readFile(file, 'utf8')
  if (given === undefined) {
    const made = makeWebhookSecret()
    note(`Signed with ${made}`)
    return made
  }
  if (!isWebhookSecret(given.trim()))
    throw new UsageError('The secret must be "whsec_" with 24 to 64 bytes in base64')
  return given.trim()
}

function describe({ event, booking_id, status, attempts, response_status, milliseconds }: Delivery): string {
  const response = response_status === null ? 'no response' : `responded ${response_status}`
  return `${event} of booking ${booking_id}: ${status}, ${response} in ${milliseconds} ms${attempts > 1 ? `, try ${attempts}` : ''}`
}

/** Seconds to pause after a wait that the service cut short. */
const restSeconds = 5

export const listen = command({
  examples: [
    'partnerctl listen --forward-to http://localhost:4000/hooks',
    'partnerctl listen --forward-to http://localhost:4000/hooks --events message.created --since "2026-11-20 12:00:05"',
  ],
  args: {
    'forward-to': {
      type: 'string',
      required: true,
      description: 'Address of a program on this machine',
      valueHint: 'url',
    },
    events: { type: 'string', description: `Only these, separated by commas: ${webhookEvents.join(', ')}` },
    since: { type: 'string', description: 'Also what came after this version; only what is new otherwise' },
    'secret-file': {
      type: 'string',
      description: 'File that holds the secret to sign with (or PARTNER_WEBHOOK_SECRET)',
      valueHint: 'path',
    },
    ...streamArgs,
    ...clientArgs,
  },
  async run({ args }) {
    const isJson = isNdjson(args)
    const url = readTarget(args['forward-to'])
    const events = readEvents(args.events)
    if (args.since !== undefined && !isFeedTime(args.since))
      throw new UsageError(`"${args.since}" is not a valid version`)
    const secret = await readSecret(args['secret-file'])
    const client = await openClient(args)
    const stop = stopOnSignal()
    const receiver = { url, secret, sleep: stop.sleep, signal: stop.signal }
    const show = (delivery: Delivery) => write(isJson ? jsonText(delivery) : describe(delivery))
    const follow = <T extends Item>(source: Source<T>) =>
      followSource(client, source, args.since, receiver, show, stop)
    const followers: Record<WebhookEvent, () => Promise<void>> = {
      'booking.changed': () => follow(bookings),
      'message.created': () => follow(messages),
    }
    await Promise.all(events.map((event) => followers[event]()))
  },
})

/** Delivers a hint for each change of a feed until the command is stopped. */
async function followSource<T extends Item>(
  client: PartnerClient,
  { event, feed, dataOf }: Source<T>,
  since: string | undefined,
  receiver: Receiver,
  show: (delivery: Delivery) => Promise<void>,
  stop: ReturnType<typeof stopOnSignal>,
): Promise<void> {
  const start = since ?? (await withRetries(() => latestVersion(client, feed), stop)) ?? undefined
  if (stop.requested) return
  note(`Listening for ${event}${start ? ` after ${start}` : ''}`)
  await poll({
    client,
    feed,
    filters: {},
    checkpoint: fleetingCheckpoint(start),
    async handle(item) {
      const data = dataOf(item)
      await show(await forward(receiver, event, data.booking_id, JSON.stringify(hintOf(event, data))))
    },
    atTheEnd: { end: 'follow', seconds: restSeconds },
    progress: openProgress(false, feed.name),
    stop,
  })
}

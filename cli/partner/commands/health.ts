import type { Schemas } from '../../../client/src/index.ts'
import { command } from '../../shared/command.ts'
import { ChecksFailedError } from '../../shared/errors.ts'
import { print, visible } from '../../shared/output.ts'
import { clientArgs, openClient } from '../client.ts'

type Health = Schemas['Health']
type Finding = Schemas['Finding']
type FeedHealth = Schemas['FeedHealth']

/**
 * For cron and for a monitor (decisions §29): it never asks, and its exit code is 1 if something needs somebody now.
 * A warning alone is no reason to wake anybody.
 */
export const health = command({
  examples: ['partnerctl health', 'partnerctl health --sandbox --json'],
  args: clientArgs,
  async run({ args }) {
    const client = await openClient(args)
    const found = await client.health.get()
    print(args, found, describeHealth)
    if (found.status !== 'failing') return
    const failing = found.findings.filter(({ severity }) => severity === 'failing')
    const codes = [...new Set(failing.map(({ code }) => code))]
    throw new ChecksFailedError(`The integration is failing: ${codes.join(', ')}`)
  },
})

/** Describes the findings, worst first and one on each line, and then how far the key has read each feed. */
function describeHealth({ findings, feeds }: Health): string {
  const lines = findings.map(describeFinding)
  for (const [name, feed] of Object.entries(feeds)) lines.push(`${name}  ${describeFeed(feed)}`)
  return lines.join('\n')
}

function describeFinding({ severity, code, since, message }: Finding): string {
  return visible([severity, code, since ?? '-', message].join('  '))
}

function describeFeed(feed: FeedHealth | null): string {
  if (feed === null) return 'not shown: the key lacks the permission bookings.read'
  const { read_version, read_at, unread, oldest_unread_at } = feed
  if (read_at === null) return 'never read by this key'
  const waiting = oldest_unread_at === null ? '0 unread' : `${unread} unread since ${oldest_unread_at}`
  return `${waiting}; read up to ${read_version ?? 'the beginning'}, last at ${read_at}`
}

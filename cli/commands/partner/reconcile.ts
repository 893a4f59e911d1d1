import type { DigestedBooking } from '../../../src/changes/digest/digest.ts'
import { isFeedTime } from '../../../src/http/schema/formats.ts'
import { parseFeedTime, toVersion } from '../../../src/versions/format.ts'
import { clientArgs, openClient } from '../../client/client.ts'
import { command } from '../../command.ts'
import { UsageError } from '../../errors.ts'
import { ChecksFailedError } from '../../findings.ts'
import { print, table } from '../../output.ts'
import { stopOnSignal } from '../../poll/patience.ts'
import { openProgress } from '../../poll/progress.ts'
import { readBookingsFile } from '../../reconcile/bookings-file.ts'
import { compare, type Differences } from '../../reconcile/compare.ts'
import { digestsOf } from '../../reconcile/source.ts'
import { parseId } from '../../values.ts'

export const reconcile = command({
  examples: [
    'partnerctl reconcile --against bookings.csv',
    './export-bookings | partnerctl reconcile --against - --since "2026-11-20 12:00:05"',
  ],
  args: {
    against: {
      type: 'string',
      required: true,
      description:
        'Your bookings, or - for standard input: csv with a header line, or lines of JSON; booking_id, status, checkin_at, checkout_at and, if you know it, version',
      valueHint: 'file',
    },
    since: {
      type: 'string',
      description: 'What is newer than this version is no difference; without it, than the newest of yours',
    },
    listing: { type: 'string', description: 'Only this listing' },
    ...clientArgs,
  },
  async run({ args }) {
    if (args.listing !== undefined) parseId(args.listing)
    if (args.since !== undefined && !isFeedTime(args.since))
      throw new UsageError(`"${args.since}" is not a valid version`)
    const since = args.since === undefined ? undefined : toVersion(parseFeedTime(args.since))
    const held = await readBookingsFile(args.against)
    const client = await openClient(args)
    const progress = openProgress(Boolean(process.stderr.isTTY), 'days', 'Comparing')
    const source = digestsOf(client, args.listing, stopOnSignal())
    const found = await compare(source, held, since, (done, left) => progress.update(done, left)).finally(
      () => progress.stop(),
    )
    print(args, found, describe)
    const count = found.missing.length + found.extra.length + found.different.length
    if (count > 0) throw new ChecksFailedError(`Bookings that differ: ${count}`)
  },
})

const shown = ({ status, checkin_at, checkout_at }: DigestedBooking) =>
  `${status} ${checkin_at} ${checkout_at}`

function describe({ version, compared, requests, missing, extra, different, newer }: Differences): string {
  const asOf = version === null ? 'the host has no bookings' : `as of ${version}`
  const rows = [
    ...missing.map((here) => ['missing', here.booking_id, shown(here), null]),
    ...extra.map((there) => ['extra', there.booking_id, null, shown(there)]),
    ...different.map(({ booking_id, here, there }) => ['different', booking_id, shown(here), shown(there)]),
  ]
  const differences =
    rows.length === 0 ? 'No difference' : table(['DIFFERENCE', 'BOOKING', 'HERE', 'YOURS'], rows)
  return [
    differences,
    ...(newer.length === 0
      ? []
      : [
          `Newer than what is compared, and no difference:\n${table(
            ['BOOKING', 'HERE', 'VERSION'],
            newer.map((here) => [here.booking_id, shown(here), here.version]),
          )}`,
        ]),
    `${compared} of your bookings compared in ${requests} ${requests === 1 ? 'request' : 'requests'}, ${asOf}`,
  ].join('\n\n')
}

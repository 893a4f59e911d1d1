import { command, option, requiredOption } from '../../shared/command.ts'
import { ChecksFailedError } from '../../shared/errors.ts'
import { print } from '../../shared/output.ts'
import { standardError } from '../../shared/streams.ts'
import { table } from '../../shared/table.ts'
import { parseId } from '../../shared/values.ts'
import { clientArgs, openClient } from '../client.ts'
import { versionOf } from '../dates.ts'
import { openProgress } from '../poll/progress.ts'
import { readBookingsFile } from '../reconcile/bookings-file.ts'
import { type ComparedBooking, compare, type Differences, type FetchDigest } from '../reconcile/compare.ts'
import { requireVersion } from '../service.ts'
import { stopOnSignal, untilStopped } from '../stop.ts'

export const reconcile = command({
  examples: [
    'partnerctl reconcile --against bookings.csv',
    './export-bookings | partnerctl reconcile --against - --since "2026-11-20 12:00:05"',
  ],
  args: {
    against: requiredOption(
      'Your bookings, or - for standard input: csv with a header line, or lines of JSON; booking_id, status, checkin_at, checkout_at and, if you know it, version',
      'file',
    ),
    since: option('Bookings changed after this version are not differences (default: your newest version)'),
    listing: option('Only this listing'),
    ...clientArgs,
  },
  async run({ args }) {
    if (args.listing !== undefined) parseId(args.listing)
    requireVersion(args.since)
    const since = args.since === undefined ? undefined : versionOf(args.since)
    const held = await readBookingsFile(args.against)
    const { bookings } = await openClient(args, Number.POSITIVE_INFINITY)
    const stop = stopOnSignal()
    const progress = await openProgress(standardError.isTerminal, 'days', 'Comparing')
    const digest: FetchDigest = (part) =>
      bookings.digest({ listing_id: args.listing, ...part }, { signal: stop })
    const onDay = (done: number, left: number) => progress.update(done, left)
    const found = await untilStopped(stop, () => compare(digest, held, since, onDay)).finally(progress.stop)
    if (found === null) throw new ChecksFailedError('Stopped before everything was compared')
    print(args, found, describe)
    const count = found.missing.length + found.extra.length + found.different.length
    if (count > 0) throw new ChecksFailedError(`Bookings that differ: ${count}`)
  },
})

const shown = ({ status, checkin_at, checkout_at }: ComparedBooking) =>
  `${status} ${checkin_at} ${checkout_at}`

function describe({ version, compared, requests, missing, extra, different, newer }: Differences): string {
  const asOf = version === null ? 'the host has no bookings' : `as of ${version}`
  const rows = [
    ...missing.map((here) => ({ what: 'missing', booking_id: here.booking_id, here, there: null })),
    ...extra.map((there) => ({ what: 'extra', booking_id: there.booking_id, here: null, there })),
    ...different.map((both) => ({ what: 'different', ...both })),
  ]
  const differences = table(rows, {
    DIFFERENCE: 'what',
    BOOKING: 'booking_id',
    HERE: ({ here }) => here && shown(here),
    YOURS: ({ there }) => there && shown(there),
  })
  const later = table(newer, { BOOKING: 'booking_id', HERE: shown, VERSION: 'version' })
  return [
    rows.length === 0 ? 'No difference' : differences,
    ...(newer.length === 0
      ? []
      : [`Changed after the compared version, so not counted as differences:\n${later}`]),
    `${compared} of your bookings compared in ${requests} ${requests === 1 ? 'request' : 'requests'}, ${asOf}`,
  ].join('\n\n')
}

import { setTimeout } from 'node:timers/promises'
import { type ArgsDef, type CommandContext, defineCommand } from 'citty'
import { command, flag, option } from '../../shared/command.ts'
import { UsageError } from '../../shared/errors.ts'
import { jsonText, noJsonInStreams, print, printLine, streamArgs } from '../../shared/output.ts'
import type {
  RequestAdministration,
  RequestRow,
  RequestSearch,
  RequestSource,
} from '../../shared/requests.ts'
import { limitArgument, parseDuration, parseLimit, printUpTo } from '../../shared/values.ts'
import { clientArgs, openClient } from '../client.ts'
import { parseMoment } from '../dates.ts'
import { describeRequest, partnerSource, tailRequests } from '../requests/source.ts'
import { stopOnSignal } from '../stop.ts'

const partnerArgs = {
  'request-id': option('Only the request with this id', 'id'),
  status: option('Only these statuses, such as 4xx or 422,429', 'statuses'),
  since: option('Only requests since a time, or within a duration such as 15m', 'time'),
  ...clientArgs,
} as const satisfies ArgsDef

const ownerArgs = {
  host: option('Only requests of this host (administrator: reads the database)', 'host'),
  key: option('Only requests of this key, by id or prefix (administrator)', 'key'),
  admin: flag('Requests of all hosts (administrator)'),
} as const satisfies ArgsDef

const searchArgs = { ...partnerArgs, ...ownerArgs }

type SearchValues = CommandContext<typeof searchArgs>['args']

/**
 * Calls `work` with a source that reads the database for an administrator, or the service for a partner.
 *
 * @param stop aborts requests to the service; if given, failed requests are retried until the signal is aborted
 */
async function withSource<T>(
  administration: RequestAdministration | undefined,
  args: SearchValues,
  work: (read: RequestSource) => Promise<T>,
  stop?: AbortSignal,
): Promise<T> {
  const { host, key, admin } = args
  if (!administration || (host === undefined && key === undefined && !admin)) {
    const retries = stop ? Number.POSITIVE_INFINITY : undefined
    return work(partnerSource(await openClient(args, retries), stop))
  }
  const client = ['base-url', 'key-file', 'profile', 'sandbox'] as const
  const other = client.find((name) => args[name] !== undefined)
  if (other) throw new UsageError(`Option --${other} cannot be used with --host, --key or --admin`)
  const withDatabase = await administration.withAdminSource()
  return withDatabase({ host, key }, work)
}

/** The statuses that the service can filter by. */
const responseStatus = /^(?:[2-5](?:xx|\d\d)|unanswered)$/

function searchOf({ status, since, 'request-id': requestId }: SearchValues): RequestSearch {
  const statuses = status?.split(',').map((one) => one.trim())
  const wrong = statuses?.find((one) => !responseStatus.test(one))
  if (wrong !== undefined)
    throw new UsageError(`"${wrong}" is not a status such as "422" or "4xx", or "unanswered"`)
  return { statuses, requestId, since: since === undefined ? undefined : momentOf(since) }
}

function momentOf(since: string): string {
  const moment = parseMoment(since)
  if (moment) return moment.toISOString()
  if (!/^[\d.]+[smhd]?$/.test(since))
    throw new UsageError(
      `"${since}" is neither a time such as 2026-11-20T12:00:00Z nor a duration such as 15m`,
    )
  return new Date(Date.now() - parseDuration(since) * 1000).toISOString()
}

/** Maximum delay between a response and its log entry, in milliseconds. */
const writtenMilliseconds = 2000

/** Searches again if a request id is not found, because the request may not have been logged yet. */
async function readWithRetry(read: RequestSource, search: RequestSearch, limit: number) {
  const found = await read(search, limit)
  if (found.length > 0 || search.requestId === undefined) return found
  await setTimeout(writtenMilliseconds)
  return read(search, limit)
}

function nothingFound({ requestId }: RequestSearch): string {
  return requestId === undefined
    ? 'No requests'
    : 'No request with this id was made with this key, or it is no longer kept'
}

/** Defines the commands; without `administration`, only those that partners have. */
export const requestsWith = (administration: RequestAdministration | undefined) => {
  const own = (administration ? searchArgs : partnerArgs) as typeof searchArgs
  const examples = (ofPartners: string[], ofAdministrators: string) =>
    administration ? [...ofPartners, ofAdministrators] : ofPartners
  const list = command({
    meta: { name: 'list', description: 'List requests, latest first, each failure with its errors' },
    examples: examples(
      [
        'partnerctl requests list --status 4xx,5xx --since 1h',
        'partnerctl requests list --request-id 3b0f8a52-6f0e-4b0a-9d55-2f6f3c1d7c11',
      ],
      'partnerctl requests list --host host@example.com',
    ),
    args: { ...own, ...limitArgument('requests', 50) },
    async run({ args }) {
      const limit = parseLimit(args.limit)
      const search = searchOf(args)
      await withSource(administration, args, async (read) => {
        const found = await readWithRetry(read, search, limit + 1)
        printUpTo(found, limit, {
          show: (rows) =>
            print(args, rows, () => rows.map(describeRequest).join('\n') || nothingFound(search)),
          hint: () => 'raise --limit to see older ones',
        })
      })
    },
  })
  const tail = command({
    meta: {
      name: 'tail',
      description: 'Show the latest requests, then new requests as they arrive',
    },
    examples: examples(['partnerctl requests tail'], 'partnerctl requests tail --key 7 --status 4xx,5xx'),
    args: { ...own, ...streamArgs },
    whyNoJson: noJsonInStreams,
    async run({ args }) {
      const search = searchOf(args)
      const isJson = args.output === 'ndjson'
      const write = (row: RequestRow) => printLine(isJson ? jsonText(row) : describeRequest(row))
      const stop = stopOnSignal()
      await withSource(administration, args, (read) => tailRequests(read, search, write, stop), stop)
    },
  })
  return defineCommand({
    subCommands: administration ? { list, tail, top: administration.top } : { list, tail },
  })
}

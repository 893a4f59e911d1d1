import { note, visible } from '../../shared/output.ts'
import type { RequestRow, RequestSearch, RequestSource } from '../../shared/requests.ts'
import type { PartnerClient } from '../client.ts'
import { sleep, untilStopped } from '../stop.ts'

/** Maximum number of rows in one response from the service. */
const perPage = 100

/** Returns a source that reads the requests made with the client's own key over HTTP. */
export function partnerSource({ requests }: PartnerClient, signal?: AbortSignal): RequestSource {
  return async ({ statuses, requestId, since }, limit) => {
    const rows: RequestRow[] = []
    const query = { per_page: Math.min(perPage, limit), status: statuses, request_id: requestId, since }
    for await (const row of requests.list(query, { signal })) {
      rows.push(row)
      if (rows.length === limit) break
    }
    return rows
  }
}

/**
 * Describes a request in one line, followed by a line for each reason if the request failed. Line breaks in a request's
 * data do not start a new line.
 */
export function describeRequest(row: RequestRow): string {
  const { at, status, method, path, duration_ms, request_id, replayed, error, fault } = row
  const owner = row.key_id === undefined ? [] : [`host ${row.host_id} key ${row.key_id}`]
  const parts = [
    `${at.slice(0, 19)}Z`,
    status === 0 ? 'unanswered' : status,
    `${method} ${path}`,
    ...owner,
    `${duration_ms} ms${replayed ? ', replayed' : ''}${fault ? `, ${fault}` : ''}`,
    request_id ?? '-',
  ]
  const problems =
    error?.errors.map((problem) => `${problem.path}: ${problem.message} (${problem.code})`) ?? []
  const why = error ? [`${error.message} (${error.type})`, ...problems] : []
  return [parts.join('  '), ...why.map((line) => `    ${line}`)].map(visible).join('\n')
}

/** Look-back of most rounds in seconds. Each process logs its requests up to 2 s late. */
const lookBackSeconds = 5
/** Look-back of the other rounds in seconds. A held request is logged when it ends, up to 30 s after it arrives. */
const heldLookBackSeconds = 40
const roundsBetweenLongLooks = 15
const pauseSeconds = 2
/** The service allows 60 such requests a minute. A third is left for other clients with the same key. */
const secondsPerPage = 1.5
const shownFirst = 10
/** Maximum number of entries that one round reads. */
const perRound = 1000
/** Tolerance for the start time, which comes from this machine's clock rather than the service's. */
const clockToleranceSeconds = 600

/** Shows the last few requests, and then each new request once it is logged, until `stop` is aborted. */
export async function tailRequests(
  read: RequestSource,
  search: RequestSearch,
  show: (row: RequestRow) => Promise<void>,
  stop: AbortSignal,
): Promise<void> {
  const shown = new Map<string, number>()
  const begin = search.since ?? ago(Date.now(), clockToleranceSeconds)
  for (let round = 0; !stop.aborted; round += 1) {
    const isFirst = round === 0
    const since = isFirst ? search.since : latest(begin, sinceOf(shown, round))
    const isBeginning = isFirst && search.since === undefined
    const limit = isBeginning ? perPage : perRound
    const rows = (await untilStopped(stop, () => read({ ...search, since }, limit))) ?? []
    const isCut = rows.length === perRound && !rows.some(({ id }) => shown.has(id))
    if (isCut && !isFirst) note('There are too many requests to show them all; limit them with --status')
    const newRows = rows.filter(({ id }) => !shown.has(id)).slice(0, isBeginning ? shownFirst : perRound)
    for (const row of newRows.reverse()) await show(row)
    for (const { id, at } of rows) shown.set(id, Date.parse(at))
    forget(shown)
    await sleep(Math.max(pauseSeconds, Math.ceil(rows.length / perPage) * secondsPerPage), stop)
  }
}

/** Returns a round's start time. It is measured from the newest entry, because this machine's clock may differ. */
function sinceOf(shown: Map<string, number>, round: number): string | undefined {
  if (shown.size === 0) return undefined
  const seconds = round % roundsBetweenLongLooks === 0 ? heldLookBackSeconds : lookBackSeconds
  return ago(Math.max(...shown.values()), seconds)
}

function latest(begin: string, since: string | undefined): string {
  return since !== undefined && Date.parse(since) > Date.parse(begin) ? since : begin
}

function ago(moment: number, seconds: number): string {
  return new Date(moment - seconds * 1000).toISOString()
}

/** Drops entries that are too old for any round to read again. */
function forget(shown: Map<string, number>): void {
  if (shown.size === 0) return
  const oldest = Math.max(...shown.values()) - heldLookBackSeconds * 1000
  for (const [id, at] of shown) if (at < oldest) shown.delete(id)
}

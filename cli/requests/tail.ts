import { note } from '../output.ts'
import { type StopSignal, withRetries } from '../poll/patience.ts'
import { perPage, type RequestRow, type RequestSearch, type RequestSource } from './source.ts'

/** How far most rounds look back. Entries are written up to 2 s after their request, and by several processes. */
const lookBackSeconds = 5
/** How far some rounds look back. A held request is written when it ends, up to half a minute after it arrived. */
const heldLookBackSeconds = 40
const roundsBetweenLongLooks = 15
const pauseSeconds = 2
/** The service allows 60 such requests a minute, a third of which are left to other clients with the same key. */
const secondsPerPage = 1.5
const shownFirst = 10
/** Maximum number of entries that one round reads. */
const perRound = 1000
/** Tolerance for the start time, which comes from this machine's clock rather than the service's. */
const clockToleranceSeconds = 600

/** Shows each request once as it is written, starting with the last few, until stopped. */
export async function tailRequests(
  read: RequestSource,
  search: RequestSearch,
  show: (row: RequestRow) => void,
  stop: StopSignal,
): Promise<void> {
  const shown = new Map<string, number>()
  const begin = search.since ?? ago(Date.now(), clockToleranceSeconds)
  for (let round = 0; !stop.requested; round += 1) {
    const isFirst = round === 0
    const since = isFirst ? search.since : latest(begin, sinceOf(shown, round))
    const isBeginning = isFirst && search.since === undefined
    const limit = isBeginning ? perPage : perRound
    const rows = (await withRetries(() => read({ ...search, since }, limit), stop)) ?? []
    const isCut = rows.length === perRound && !rows.some(({ id }) => shown.has(id))
    if (isCut && !isFirst) note('There are too many requests to show them all; limit them with --status')
    const news = rows.filter(({ id }) => !shown.has(id)).slice(0, isBeginning ? shownFirst : perRound)
    for (const row of news.reverse()) show(row)
    for (const { id, at } of rows) shown.set(id, Date.parse(at))
    forget(shown)
    await stop.sleep(Math.max(pauseSeconds, Math.ceil(rows.length / perPage) * secondsPerPage))
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

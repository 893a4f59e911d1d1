import { type StopSignal, withRetries } from '../poll/patience.ts'
import type { RequestRow, RequestSearch, RequestSource } from './source.ts'

/** Entries are written up to 2 s after their request, and by several processes. */
const lookBackSeconds = 5
/** A request that was held is written when it ends, up to half a minute after it arrived. */
const heldLookBackSeconds = 40
const roundsBetweenLongLooks = 15
const pauseSeconds = 2
const shownFirst = 10
/** What one round reads at most. */
const perRound = 1000

/** Shows requests as they are written, each once, until it is stopped; begins with the last few. */
export async function tailRequests(
  read: RequestSource,
  search: RequestSearch,
  show: (row: RequestRow) => void,
  stop: StopSignal,
): Promise<void> {
  const shown = new Map<string, string>()
  for (let round = 0; !stop.requested; round += 1) {
    const since = shown.size === 0 ? search.since : sinceOf(shown, round)
    const limit = round === 0 && since === undefined ? shownFirst : perRound
    const rows = await withRetries(() => read({ ...search, since }, limit), stop)
    for (const row of rows?.reverse() ?? []) {
      if (!shown.has(row.id)) show(row)
      shown.set(row.id, row.at)
    }
    forget(shown)
    await stop.sleep(pauseSeconds)
  }
}

/** Measured from the newest entry and not from the clock of this machine, which may differ. */
function sinceOf(shown: Map<string, string>, round: number): string {
  const seconds = round % roundsBetweenLongLooks === 0 ? heldLookBackSeconds : lookBackSeconds
  return before(newestOf(shown), seconds)
}

function newestOf(shown: Map<string, string>): string {
  return [...shown.values()].sort().at(-1) as string
}

function before(at: string, seconds: number): string {
  return new Date(Date.parse(at) - seconds * 1000).toISOString()
}

/** What is older than any round looks back is not seen again. */
function forget(shown: Map<string, string>): void {
  if (shown.size === 0) return
  const oldest = before(newestOf(shown), heldLookBackSeconds)
  for (const [id, at] of shown) if (at < oldest) shown.delete(id)
}

const windowMilliseconds = 60_000
/** Maximum number of requests that the page sends in any minute, in all tabs together (decisions §18). */
const maxPerMinute = 10
/** Number of requests per minute that are reserved for the partner's own actions. */
const keptForPartner = 1

/** Local storage entry with the times of all tabs' requests, so that neither a reload nor another tab resets the count. */
const keptStarts = 'partner-console-requests'
/** Name of the lock under which a tab counts a request. */
const lockName = 'partner-console-requests'

/**
 * Limits the page's requests per minute over all tabs of the browser and sends none while the page is hidden; excess
 * requests wait. Without it, a few open tabs would use up the limit that the partner's own requests for insight share.
 */
export class RequestGate {
  /**
   * Resolves when the next request may be sent, and counts that request.
   *
   * @param isBackground true if the page sends the request on its own, without a partner waiting for the response
   */
  async pass(isBackground: boolean, signal: AbortSignal): Promise<void> {
    while (document.hidden || !(await inTurn(() => this.take(isBackground, signal)))) await sleep(500, signal)
    signal.throwIfAborted()
  }

  /** Counts a request if there is room for it; returns false if there is none. */
  private take(isBackground: boolean, signal: AbortSignal): boolean {
    if (signal.aborted) return false
    const now = Date.now()
    const starts = this.starts(now)
    if (starts.length >= maxPerMinute - (isBackground ? keptForPartner : 0)) return false
    localStorage.setItem(keptStarts, JSON.stringify([...starts, now]))
    return true
  }

  private starts(now: number): number[] {
    const kept = parse(localStorage.getItem(keptStarts))
    return kept.filter((start) => start > now - windowMilliseconds && start <= now)
  }
}

/**
 * Runs `work` while no other tab does. On an address that is neither secure nor local, browsers have no locks; then two
 * tabs that send in the same instant may exceed the limit by one.
 */
async function inTurn(work: () => boolean): Promise<boolean> {
  const locks = navigator.locks as LockManager | undefined
  return locks ? await locks.request(lockName, work) : work()
}

/** Returns the times in a storage entry, which anything on this origin could have written. */
function parse(text: string | null): number[] {
  try {
    const kept: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(kept) ? kept.filter((start) => typeof start === 'number') : []
  } catch {
    return []
  }
}

/** Resolves after the given time; rejects if aborted. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const abort = () => reject(signal.reason)
  const timer = setTimeout(resolve, milliseconds)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  })
}

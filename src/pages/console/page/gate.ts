const windowMilliseconds = 60_000
/** Maximum number of requests that the page sends in any minute (decisions §18). */
const maxPerMinute = 10
/** Number of requests per minute that are reserved for the partner's own actions. */
const keptForPartner = 1

/** Session storage entry with the times of this tab's requests, so that a reload does not reset the count. */
const keptStarts = 'partner-console-requests'

/** Limits the page's requests per minute and sends none while the page is hidden; excess requests wait. */
export class RequestGate {
  /**
   * Resolves when the next request may be sent, and counts that request.
   *
   * @param isBackground true if the page sends the request on its own, without a partner waiting for the response
   */
  async pass(isBackground: boolean, signal: AbortSignal): Promise<void> {
    while (document.hidden || this.room(isBackground) <= 0) await sleep(500, signal)
    signal.throwIfAborted()
    this.save([...this.starts(), Date.now()])
  }

  private room(isBackground: boolean): number {
    return maxPerMinute - this.starts().length - (isBackground ? keptForPartner : 0)
  }

  private starts(): number[] {
    const now = Date.now()
    const kept: number[] = JSON.parse(sessionStorage.getItem(keptStarts) ?? '[]')
    return kept.filter((start) => start > now - windowMilliseconds && start <= now)
  }

  private save(starts: number[]): void {
    sessionStorage.setItem(keptStarts, JSON.stringify(starts))
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

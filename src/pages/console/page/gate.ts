const windowMilliseconds = 60_000
/** Requests that the page sends in any minute (decisions §18). */
const maxPerMinute = 10
/** Kept free for what the partner asks for. */
const keptForPartner = 1

/** Where the tab keeps the times of its requests, so that a reload does not begin anew. */
const keptStarts = 'partner-console-requests'

/** Lets through as many requests a minute as the page may send, and none while it is hidden; others wait their turn. */
export class RequestGate {
  /**
   * Resolves when the next request may be sent.
   *
   * @param isBackground the page asks by itself, and the partner waits for nothing
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

/** Resolves after a time; rejects when aborted. */
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

const windowMilliseconds = 60_000
/** Requests that the page sends in any minute (decisions §18). */
const mostPerMinute = 10
/** Kept free for what the partner asks for. */
const keptForPartner = 1

/** Lets through as many requests a minute as the page may send; the others wait for their turn. */
export class RequestGate {
  private starts: number[] = []

  /**
   * Resolves when the next request may be sent.
   *
   * @param isBackground the page asks by itself, and the partner waits for nothing
   */
  async pass(isBackground: boolean, signal: AbortSignal): Promise<void> {
    while (this.room(isBackground) <= 0) {
      await sleep(500, signal)
    }
    signal.throwIfAborted()
    this.starts.push(Date.now())
  }

  private room(isBackground: boolean): number {
    this.starts = this.starts.filter((start) => start > Date.now() - windowMilliseconds)
    return mostPerMinute - this.starts.length - (isBackground ? keptForPartner : 0)
  }
}

/** Resolves after a time, or at once when aborted. */
export function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    resolve()
  })
  return promise.then(() => signal.throwIfAborted())
}

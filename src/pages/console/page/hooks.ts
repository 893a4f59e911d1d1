import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, toApiError } from './api.ts'
import { sleep } from './gate.ts'

/** Returns true while the page is visible; a hidden page sends no requests. */
export function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden)
  useEffect(() => {
    const update = () => setVisible(!document.hidden)
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return isVisible
}

/**
 * Options for a panel's requests. A request that refreshes data already shown is a background request, which can wait.
 */
export type LoadOptions = { signal: AbortSignal; isBackground: boolean }

/** A panel's data, which is kept even if a refresh fails. */
export interface Loaded<T> {
  data: T | null
  error: ApiError | null
}

/** A panel's data that is refreshed every minute. */
export interface Refreshed<T> extends Loaded<T> {
  /** Time of the last answer in milliseconds since 1970, by this machine's clock; null if there was none. */
  answeredAt: number | null
}

const refreshMilliseconds = 60_000
/** Age beyond which an answer no longer says how things are: a refresh is overdue, because it waits or the page slept. */
const freshMilliseconds = 2 * refreshMilliseconds

/** Returns true while data says how things are now: the last request succeeded, no longer than two minutes ago. */
export function useFresh({ error, answeredAt }: Refreshed<unknown>): boolean {
  const [, setRound] = useState(0)
  const leftMilliseconds = answeredAt === null ? 0 : answeredAt + freshMilliseconds - Date.now()
  useEffect(() => {
    if (leftMilliseconds <= 0) return
    const timer = setTimeout(() => setRound((before) => before + 1), leftMilliseconds + 1)
    return () => clearTimeout(timer)
  }, [answeredAt])
  return error === null && leftMilliseconds > 0
}

/**
 * Loads data immediately and then every minute while the page is visible.
 *
 * @param load sends the requests. It must be the same function on every render, so a component needs a new `key` to
 * load other data, such as another environment's.
 * @param initial data that is already known and therefore first refreshed after a minute; null if there is none
 */
export function useLoaded<T>(
  load: (turn: LoadOptions) => Promise<T>,
  initial: T | null = null,
): Refreshed<T> & { reload(): void } {
  const isVisible = useVisible()
  const [loaded, setLoaded] = useState<Refreshed<T>>({
    data: initial,
    error: null,
    answeredAt: initial === null ? null : Date.now(),
  })
  const [round, setRound] = useState(0)
  const lastStart = useRef(initial === null ? null : { at: Date.now(), round })
  useEffect(() => {
    if (!isVisible) return
    const controller = new AbortController()
    const { signal } = controller
    const run = async () => {
      const last = lastStart.current
      const isKnown = last?.round === round
      if (isKnown) await sleep(Math.max(0, last.at + refreshMilliseconds - Date.now()), signal)
      for (let isBackground = isKnown; ; isBackground = true) {
        lastStart.current = { at: Date.now(), round }
        const found = await load({ signal, isBackground }).then(
          (data) => ({ data, error: null, answeredAt: Date.now() }),
          (error) => {
            signal.throwIfAborted()
            return { error: toApiError(error) }
          },
        )
        setLoaded((before) => ({ ...before, ...found }))
        await sleep(refreshMilliseconds, signal)
      }
    }
    run().catch(() => {})
    return () => controller.abort()
  }, [load, isVisible, round])
  const reload = useCallback(() => setRound((before) => before + 1), [])
  return { ...loaded, reload }
}

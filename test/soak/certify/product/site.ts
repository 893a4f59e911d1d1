import type { Habits, Wrong } from './habits.ts'

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: an integration knows the shapes by the documentation
  body: any
  headers: Headers
}

/** Error thrown if a response is a 401, a 429 or a server error. */
export class Failed extends Error {
  constructor(
    readonly status: number,
    readonly retryAfter: number,
  ) {
    super(`Status ${status}`)
  }
}

/** Options of a request that continues even if the product crashes. */
export const whole: RequestInit = { signal: null }

/** A product's access to the sandbox; `run` is aborted when the product crashes. */
export class Site {
  run = new AbortController()

  constructor(
    private readonly base: string | (() => string),
    readonly key: string,
    readonly habits: Habits,
  ) {
    this.run.abort()
  }

  is(wrong: Wrong): boolean {
    return this.habits.wrong === wrong
  }

  async send(method: string, path: string, body?: object, more: RequestInit = {}): Promise<Answer> {
    const base = typeof this.base === 'string' ? this.base : this.base()
    const headers = { 'x-api-key': this.key, ...(more.headers as object) }
    const init = { method, ...more, headers, ...(body ? { body: JSON.stringify(body) } : {}) }
    const response = await fetch(`${base}/sandbox${path}`, { signal: this.run.signal, ...init })
    const text = await response.text()
    const retryAfter = Number(response.headers.get('retry-after') ?? 0)
    if (response.status === 429 || response.status >= 500 || response.status === 401)
      throw new Failed(response.status, retryAfter)
    return { status: response.status, body: JSON.parse(text), headers: response.headers }
  }

  /** Waits until a waker resolves, the product is killed, or the time is over (null for no time limit). */
  async rest(milliseconds: number | null, ...wakers: Promise<void>[]): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.run.signal.addEventListener('abort', () => resolve())
    if (this.run.signal.aborted) return
    await Promise.race([promise, ...(milliseconds === null ? [] : [Bun.sleep(milliseconds)]), ...wakers])
  }
}

/** Repeats failed work, for up to 30 attempts in total. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1)
    try {
      return await work()
    } catch (error) {
      if (tries === 30) throw error
      await Bun.sleep(error instanceof Failed && error.retryAfter > 0 ? error.retryAfter * 1000 : 400)
    }
}

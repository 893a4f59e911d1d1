import type { Answer } from './answer.ts'

/** A promise of an answer's `data`; `withResponse()` resolves to the whole answer. */
export interface Result<T> extends Promise<T> {
  withResponse(): Promise<Answer<T>>
}

/** @param take extracts the result from an answer */
export function resultOf<T>(sent: Promise<Answer>, take: (answer: Answer) => T): Result<T> {
  const whole = sent.then((answer) => ({ ...answer, data: take(answer) }))
  const result = whole.then(({ data }) => data)
  const withResponse = () => {
    // The caller handles the failure of `whole`, so `result` must not report it again as unhandled.
    result.catch(() => {})
    return whole
  }
  return Object.assign(result, { withResponse })
}

/** A list that yields its first page if awaited, or all items of all pages in a `for await` loop. */
export interface List<T> extends PromiseLike<T[]>, AsyncIterable<T> {
  withResponse(): Promise<Answer<T[]>>
}

type PageQuery = Record<string, string | number>

/** @param ask requests a page; not called until the list is awaited or looped over */
export function listOf<T>(ask: (query: PageQuery) => Promise<Answer<T[]>>): List<T> {
  return {
    // biome-ignore lint/suspicious/noThenProperty: a list is awaited for its first page
    then: (resolve, reject) =>
      ask({})
        .then(({ data }) => data)
        .then(resolve, reject),
    withResponse: () => ask({}),
    async *[Symbol.asyncIterator]() {
      for (let query: PageQuery | null = {}; query !== null; ) {
        const { data, meta }: Answer<T[]> = await ask(query)
        yield* data
        query = nextOf(meta.pagination)
      }
    },
  }
}

interface Paging {
  next_cursor?: string | null
  current_page: number
  last_page: number
}

function nextOf(paging: Paging): PageQuery | null {
  if (paging.next_cursor !== undefined)
    return paging.next_cursor === null ? null : { cursor: paging.next_cursor }
  return paging.current_page < paging.last_page ? { page: paging.current_page + 1 } : null
}

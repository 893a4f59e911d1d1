import type { Answer } from './answer.ts'

/** What `data` holds, or with `withResponse()` that and everything around it. */
export interface Result<T> extends Promise<T> {
  withResponse(): Promise<Answer<T>>
}

/** @param take what is given of an answer */
export function resultOf<T>(sent: Promise<Answer>, take: (answer: Answer) => T): Result<T> {
  const whole = sent.then((answer) => ({ ...answer, data: take(answer) }))
  const result = whole.then(({ data }) => data)
  const withResponse = () => {
    // Whoever has the whole is told of its failure, once.
    result.catch(() => {})
    return whole
  }
  return Object.assign(result, { withResponse })
}

/** One page, awaited; or all items of all pages, in a loop. */
export interface List<T> extends PromiseLike<T[]>, AsyncIterable<T> {
  withResponse(): Promise<Answer<T[]>>
}

type PageQuery = Record<string, string | number>

/** @param ask sends a request for a page; not before it is awaited, or looped over */
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

import { createClient } from '../../../client/src/index.ts'

/** The id with which every method is called. */
const anyId = '7'

/**
 * Returns the client's method for each operation, such as `users.get` for `GET /users/{}`. The client itself shows which
 * request each of its methods sends, so the samples cannot name a method that does something else.
 */
export async function findClientMethods(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  let called = ''
  const fetch = async ({ method, url }: Request) => {
    const path = new URL(url).pathname.replace(/^\/sandbox/, '')
    found.set(
      requestName(method, path.replaceAll(`/${anyId}`, '/{}').replace('/provider_one', '/{}')),
      called,
    )
    // The fields that the methods take from a response.
    return Response.json({ data: { Bookings: [], messages: [], digest: {}, played: {} }, meta: {} })
  }
  const callAll = async (methods: object, prefix: string): Promise<void> => {
    for (const [name, member] of Object.entries(methods)) {
      if (typeof member === 'object') {
        await callAll(member, `${prefix}${name}.`)
        continue
      }
      // `request` sends any request.
      if (name === 'request') continue
      called = prefix + name
      const result = member(anyId, anyId)
      if (isFeed(result)) await result[Symbol.asyncIterator]().next()
      else await result
    }
  }
  await callAll(createClient({ key: 'k', baseUrl: 'http://127.0.0.1:1', sandbox: true, fetch }), '')
  return found
}

/** Returns the name under which {@link findClientMethods} lists the method for a request to a path below the root. */
export function requestName(method: string, path: string): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`
}

/** True for a feed, which sends its first request when it is read. A list sends its own at once. */
function isFeed(result: object): result is AsyncIterable<unknown> {
  return Symbol.asyncIterator in result && !('then' in result)
}

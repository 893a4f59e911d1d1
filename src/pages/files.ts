import { NotFoundError } from 'elysia'
import { type CachedContent, cachedContent } from '../http/answer/cached-content.ts'
import { agentsLink, strictPagePolicy } from '../http/answer/security-headers.ts'

/** The pages' files, by path. */
export type Files = Record<string, CachedContent>

/** The parts of a request that a file handler uses. */
interface PageRequest {
  path: string
  request: Request
  set: { headers: object }
}

/**
 * Returns a handler that serves files to anyone, with an entity tag and a content security policy.
 *
 * @param find returns the file at a path that has no trailing slash; if it returns undefined, the client gets the
 *   response for an unknown route
 */
export function serveFiles(
  find: (path: string) => Promise<CachedContent | undefined>,
  policy = strictPagePolicy,
) {
  return async ({ path, request, set }: PageRequest) => {
    // The header is set before the lookup, so that error responses link agents to the overview as well.
    Object.assign(set.headers, agentsLink)
    const file = await find(path.replace(/(?<=.)\/$/, ''))
    if (!file) throw new NotFoundError()
    const headers = set.headers as Record<string, string>
    return file.respond(request, {
      ...headers,
      // If this breaks: a page runs scripts of others
      'content-security-policy': policy,
    })
  }
}

/** Returns a text file for {@link serveFiles}. */
export function textFile(text: string, contentType: string): CachedContent {
  return cachedContent(new TextEncoder().encode(text), `${contentType}; charset=utf-8`)
}

import { DomainError } from '../../core/errors.ts'
import { readApiKey } from '../authorization.ts'
import { splitRoot } from '../roots.ts'

/** A path pattern, and the methods of its routes. */
interface Place {
  pattern: RegExp
  methods: Set<string>
}

/** Routes that announce no methods, because whether they exist depends on a setting or a token. */
const unannounced = ['/metrics', '/.well-known/security.txt']

/**
 * True for a route that takes the paths of files, such as `/guide/:file` or `/npm/*`. It announces no methods, because
 * only its handler knows which of these files exist.
 */
function isForFiles(path: string): boolean {
  return path.endsWith('/:file') || path.endsWith('/*')
}

/**
 * Returns a function that returns the methods of the routes at a path, in alphabetical order: none if there is no such
 * path. `HEAD` stands beside each `GET`.
 *
 * @param routes returns all routes; called once, at the first use, because routes are still being added until then
 */
export function methodsByPath(
  routes: () => readonly { method: string; path: string }[],
): (path: string) => string[] {
  let places: Place[] | undefined
  return (path) => {
    places ??= placesOf(routes())
    const sought = path.replace(/(?<=.)\/$/, '')
    const methods = places
      .filter(({ pattern }) => pattern.test(sought))
      .flatMap((place) => [...place.methods])
    return [...new Set(methods)].sort()
  }
}

function placesOf(routes: readonly { method: string; path: string }[]): Place[] {
  const places = new Map<string, Place>()
  for (const { method, path } of routes) {
    if (unannounced.includes(path) || isForFiles(path)) continue
    const place = places.get(path) ?? { pattern: patternOf(path), methods: new Set() }
    place.methods.add(method)
    if (method === 'GET') place.methods.add('HEAD')
    places.set(path, place)
  }
  return [...places.values()]
}

/** Returns the pattern of a route's path, such as `/v1/users/:id`. */
function patternOf(path: string): RegExp {
  const source = path.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replace(/:\w+/g, '[^/]+')
  return new RegExp(`^${source}$`)
}

/**
 * Returns the error for a request to a path that has routes, but none with the request's method (decisions §1): a 404
 * that names their methods, or the 401 for a missing key if the path requires one.
 */
export function wrongMethod({ headers, url }: Request, methods: string[]): DomainError {
  try {
    if (splitRoot(new URL(url).pathname).environment !== undefined) readApiKey(headers)
    return new DomainError('not_found', `This path does not take the method: use ${inWords(methods)}`)
  } catch (error) {
    return error as DomainError
  }
}

/** @example inWords(['DELETE', 'GET', 'HEAD']) // 'DELETE, GET or HEAD' */
function inWords(methods: string[]): string {
  const last = methods.at(-1) ?? ''
  return methods.length > 1 ? `${methods.slice(0, -1).join(', ')} or ${last}` : last
}

import { isIdText } from './path-id.ts'
import { supportedProvider } from './provider.ts'
import { isSlug } from './schema/formats.ts'

/** The proper form of each path parameter that is not an id. */
const forms: Record<string, (value: string) => boolean> = {
  ':provider': (value) => value === supportedProvider,
  ':name': isSlug,
  ':delivery_id': (value) => /^msg_[0-9a-f]{24}$/.test(value),
}

/**
 * The path of a request as its key's log shows it: a parameter that has not its proper form is left out, because it
 * may be anything, even a secret (decisions §18).
 *
 * @param route the pattern that the path matched
 */
export function loggedPath(route: string, path: string): string {
  if (!route.includes(':')) return route
  const sent = path.split('/')
  return route
    .split('/')
    .map((part, index) => (part.startsWith(':') ? shownParameter(part, sent[index] ?? '') : part))
    .join('/')
}

function shownParameter(name: string, value: string): string {
  return (forms[name] ?? isIdText)(value) ? value : '…'
}

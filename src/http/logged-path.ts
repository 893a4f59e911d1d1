import { mayContainApiKey } from './input/api-key-format.ts'
import { isIdText, isSlug } from './input/path-ids.ts'
import { supportedProvider } from './input/provider.ts'

/** Format checks for the path parameters that are not ids. */
const parameterFormats: Record<string, (value: string) => boolean> = {
  ':provider': (value) => value === supportedProvider,
  ':name': isSlug,
  ':delivery_id': (value) => /^msg_[0-9a-f]{24}$/.test(value),
}

/**
 * Returns a request's path as the key's log shows it. A malformed parameter is replaced with `…`, because it may
 * contain anything, even a secret (decisions §18).
 *
 * @param route path pattern of the matched route
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
  // If this breaks: the log shows what was sent in a path
  return (parameterFormats[name] ?? isIdText)(value) ? value : '…'
}

/**
 * Returns an ignored field's path as it appears in responses. A long or unusual path becomes `…`, because a client may send
 * any field name, even a secret (decisions §27).
 */
export function shownFieldPath(path: string): string {
  // If this breaks: an API key is shown as the name of an unknown field
  const isShown = path.length <= 64 && /^[\w.]+$/.test(path) && !mayContainApiKey(path)
  return isShown ? path : '…'
}

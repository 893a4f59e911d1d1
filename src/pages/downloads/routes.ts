import { Elysia } from 'elysia'
import type { AppContext } from '../../http/context.ts'
import { serveFiles } from '../files.ts'
import { parseRegistryPath } from './registry.ts'
import { Shelf } from './shelf.ts'

const downloads = new Map([
  ['/downloads/partnerctl.mjs', 'partnerctl.mjs'],
  ['/downloads/SHA256SUMS', 'SHA256SUMS'],
])

/**
 * Routes from which partners get the client and the command line (decisions §30). No route requires a key.
 */
export function downloadRoutes(context: Pick<AppContext, 'config' | 'db' | 'log'>) {
  const shelf = new Shelf(context)
  const serve = serveFiles(async (path) => {
    const name = downloads.get(path)
    return name === undefined ? undefined : shelf.findFile(name)
  })
  const serveRegistry = serveFiles(async (path) => {
    const asked = parseRegistryPath(path)
    return asked === null ? undefined : shelf.find(asked)
  })
  return (
    new Elysia({ detail: { hide: true } })
      .get('/downloads/:file', serve)
      .get('/npm/*', serveRegistry)
      // A package manager appends the package's path to the registry's address, which may end in several slashes.
      .get('//*', serveRegistry)
  )
}

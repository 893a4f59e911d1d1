import { Elysia } from 'elysia'
import type { Config } from '../../core/config.ts'
import { type CachedContent, cachedContent } from '../../http/cached-content.ts'
import { cacheFor } from '../../platform/time-limits.ts'
import { serveFiles, textFile } from '../files.ts'
import { type Downloads, loadDownloads } from './files.ts'
import { metadataOf, parseRegistryPath } from './registry.ts'

/**
 * Routes from which partners get the client and the command line, in the service's own version (decisions §30). No
 * route requires a key. Everything is loaded at the first request.
 */
export function downloadRoutes(config: Config) {
  const load = cacheFor(Number.POSITIVE_INFINITY, async () => toFiles(await loadDownloads(), config))
  const find = async (path: string) => (await load()).get(path)
  const serve = serveFiles(find)
  const serveRegistry = serveFiles((path) => {
    const asked = parseRegistryPath(path)
    return asked ? find(`/npm/${asked.name}/${asked.archive ?? ''}`) : Promise.resolve(undefined)
  })
  return (
    new Elysia({ detail: { hide: true } })
      .get('/downloads/:file', serve)
      .get('/npm/*', serveRegistry)
      // A package manager appends the package's path to the registry's address, which may end in several slashes.
      .get('//*', serveRegistry)
  )
}

/**
 * Returns the files by path. The path of a registry's file is made of the parts that {@link parseRegistryPath} returns.
 */
function toFiles({ packages, commandLine, checksums }: Downloads, { publicUrl }: Config) {
  const files = new Map<string, CachedContent>()
  files.set('/downloads/partnerctl.mjs', cachedContent(commandLine, 'text/javascript; charset=utf-8'))
  files.set('/downloads/SHA256SUMS', textFile(checksums, 'text/plain'))
  for (const one of packages) {
    const metadata = JSON.stringify(metadataOf(one, publicUrl))
    files.set(`/npm/${one.name}/`, textFile(metadata, 'application/json'))
    files.set(`/npm/${one.name}/${one.file}`, cachedContent(one.archive, 'application/gzip'))
  }
  return files
}

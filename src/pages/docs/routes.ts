import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type AnyElysia, Elysia } from 'elysia'
import type { Config } from '../../core/config.ts'
import { DomainError } from '../../core/errors.ts'
import { cachedContent, immutableCacheControl } from '../../http/answer/cached-content.ts'
import { pagePolicy } from '../../http/answer/security-headers.ts'
import { cacheFor } from '../../platform/time-limits.ts'
import { type Files, serveFiles, textFile } from '../files.ts'
import { mapValues } from './schemas.ts'

/**
 * Routes for the documentation page `/docs`, the changelog, the downloads, the OpenAPI document `/openapi.json`, one
 * document per operation (`/openapi/<operationId>.json`), and the workflows across operations. None of the routes
 * requires a key. Everything is built on the first request.
 */
export function docsRoutes(config: Config, app: () => AnyElysia) {
  const documentation = cacheFor(Number.POSITIVE_INFINITY, () => makeDocumentation(config, app()))
  const downloads = cacheFor(Number.POSITIVE_INFINITY, () => makeDownloads(config, app()))
  const find = async (path: string) => {
    const found = (await documentation())[path]
    if (!found && path.startsWith('/openapi/'))
      throw new DomainError('not_found', 'No such operation; /openapi/operations.json lists all of them')
    if (found || !/\.json$/.test(path)) return found
    return (await downloads())[path.slice('/docs/'.length)]
  }
  const serve = serveFiles(find)
  return new Elysia({ detail: { hide: true } })
    .get('/openapi.json', serve)
    .get('/openapi/:file', serve)
    .get('/workflows.arazzo.yaml', serve)
    .get('/docs', serveFiles(find, pagePolicy))
    .get('/docs/:file', serve)
    .get('/docs/assets/:file', serve)
}

const workflowsFile = new URL('../../../docs/workflows.arazzo.yaml', import.meta.url)

async function makeDocumentation(config: Config, app: AnyElysia): Promise<Files> {
  // The generators are loaded only on the first request.
  const { openApiDocument } = await import('./openapi.ts')
  const { listOperations, pathOf, singleOperation } = await import('./operations.ts')
  const { withSamples } = await import('./samples.ts')
  const { changelogPage, renderReference, withUnionTypes } = await import('./docs-page.ts')
  const script = new Uint8Array(await readFile(scriptPath()))
  // The script's name changes with its content, so caches may keep it forever.
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 12)
  const scriptAddress = `/docs/assets/reference.${hash}.js`
  const scripts = ['/docs/assets/old-anchors.js', '/docs/assets/accessibility.js']
  const document = openApiDocument(app, config)
  // Only the page's document contains samples. Programs do not need them, and they make the document 50 % longer.
  const address = '/docs/reference.json'
  const page = await renderReference(document, { script: scriptAddress, address, own: scripts })
  const own = await Promise.all(
    scripts.map(async (address) => {
      const file = new URL(address.replace('/docs/assets/', ''), import.meta.url)
      return [address, textFile(await readFile(file, 'utf8'), 'text/javascript')]
    }),
  )
  const operations = listOperations(document)
  const list = operations.map((one) => [one.id, `${one.method} ${pathOf(one)}: ${one.summary}`])
  const single = operations.map((one) => [
    `/openapi/${one.id}.json`,
    textFile(JSON.stringify(singleOperation(document, one)), 'application/json'),
  ])
  return {
    ...Object.fromEntries([...own, ...single]),
    '/openapi/operations.json': textFile(
      JSON.stringify(Object.fromEntries(list), null, 1),
      'application/json',
    ),
    '/docs': textFile(page, 'text/html'),
    '/docs/changelog': textFile(changelogPage(), 'text/html'),
    '/workflows.arazzo.yaml': textFile(await readFile(workflowsFile, 'utf8'), 'application/yaml'),
    '/openapi.json': textFile(JSON.stringify(document), 'application/json'),
    [address]: textFile(JSON.stringify(withUnionTypes(await withSamples(document))), 'application/json'),
    [scriptAddress]: cachedContent(script, 'text/javascript; charset=utf-8', immutableCacheControl),
  }
}

/** Loads the Postman and Bruno collections. Omits them if they were not built in advance and cannot be built now. */
async function makeDownloads(config: Config, app: AnyElysia): Promise<Files> {
  const { openApiDocument } = await import('./openapi.ts')
  const { loadCollections } = await import('./collections.ts')
  const collections = await loadCollections(() => openApiDocument(app, config), config.publicUrl).catch(
    () => ({}),
  )
  return mapValues(collections as Record<string, string>, (content) => textFile(content, 'application/json'))
}

/** Returns the path of Scalar's single-file script, from the only Scalar package without large dependencies. */
function scriptPath(): string {
  return fileURLToPath(new URL('js/standalone.js', import.meta.resolve('@scalar/fastify-api-reference')))
}

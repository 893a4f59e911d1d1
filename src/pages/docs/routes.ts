import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type AnyElysia, Elysia } from 'elysia'
import type { Config } from '../../core/config.ts'
import { notFound } from '../../core/errors.ts'
import { type CachedContent, cachedContent, forGood } from '../../http/cached-content.ts'
import { pagePolicy } from '../../http/security-headers.ts'
import { mapValues } from './schemas.ts'

/** The content below `/docs` and the OpenAPI document, by path. It is built on the first request. */
type Documentation = Record<string, CachedContent>

const html = 'text/html; charset=utf-8'
const javascript = 'text/javascript; charset=utf-8'

/**
 * Routes of the documentation page `/docs` (`/` redirects to it), the changelog, the downloads, and the OpenAPI
 * document `/openapi.json`. None of them requires a key.
 */
export function docsRoutes(config: Config, app: () => AnyElysia) {
  let documentation: Promise<Documentation> | undefined
  let downloads: Promise<Documentation> | undefined
  const find = async (path: string) => {
    documentation ??= makeDocumentation(config, app())
    const found = (await documentation)[path]
    if (found || !/\.(json|tgz)$/.test(path)) return found
    downloads ??= makeDownloads(config, app())
    return (await downloads)[path.slice('/docs/'.length)]
  }
  const serve = async ({ path, request, set }: RequestContext) => {
    const content = await find(path)
    if (!content) throw notFound('File')
    const headers = set.headers as Record<string, string>
    return content.respond(request, { ...headers, 'content-security-policy': pagePolicy })
  }
  return new Elysia({ detail: { hide: true } })
    .get('/', ({ redirect }) => redirect('/docs'))
    .get('/openapi.json', serve)
    .get('/docs', serve)
    .get('/docs/:file', serve)
    .get('/docs/assets/:file', serve)
}

interface RequestContext {
  path: string
  request: Request
  set: { headers: object }
}

async function makeDocumentation(config: Config, app: AnyElysia): Promise<Documentation> {
  // The generators are loaded only on the first request.
  const { openApiDocument } = await import('./openapi.ts')
  const { renderPage } = await import('./page.ts')
  const { changelogPage, changelogStyle } = await import('./changelog.ts')
  const script = new Uint8Array(await readFile(scriptPath()))
  // The script's name changes with its content, so caches may keep it forever.
  const hash = createHash('sha256').update(script).digest('hex').slice(0, 12)
  const scriptAddress = `/docs/assets/reference.${hash}.js`
  const repairs = '/docs/assets/accessibility.js'
  const page = await renderPage(scriptAddress, '/openapi.json', repairs)
  return {
    '/docs': text(page, html),
    '/docs/changelog': text(changelogPage(), html),
    '/docs/assets/changelog.css': text(changelogStyle, 'text/css; charset=utf-8'),
    '/openapi.json': text(JSON.stringify(openApiDocument(app, config)), 'application/json'),
    [repairs]: text(await readFile(new URL('accessibility.js', import.meta.url), 'utf8'), javascript),
    [scriptAddress]: cachedContent(script, javascript, forGood),
  }
}

/** Loads the Postman and Bruno collections and the client, omitting those that were not built and cannot be built. */
async function makeDownloads(config: Config, app: AnyElysia): Promise<Documentation> {
  const { openApiDocument } = await import('./openapi.ts')
  const { loadCollections } = await import('./collections.ts')
  const { clientPackageName, loadClientPackage } = await import('./client-package.ts')
  const [collections, client] = await Promise.all([
    loadCollections(() => openApiDocument(app, config), config.publicUrl).catch(() => ({})),
    loadClientPackage().catch(() => null),
  ])
  return {
    ...mapValues(collections as Record<string, string>, (content) => text(content, 'application/json')),
    ...(client ? { [clientPackageName]: cachedContent(client, 'application/gzip') } : {}),
  }
}

function text(content: string, contentType: string): CachedContent {
  return cachedContent(new TextEncoder().encode(content), contentType)
}

/** Returns the path of Scalar's single-file script. It is in the only package that has no large dependencies. */
function scriptPath(): string {
  return fileURLToPath(new URL('js/standalone.js', import.meta.resolve('@scalar/fastify-api-reference')))
}

import { fileURLToPath } from 'node:url'
import { type AnyElysia, Elysia } from 'elysia'
import type { Config } from '../config.ts'
import { notFound } from '../errors.ts'
import { pagePolicy } from '../http/security-headers.ts'

const ownFile = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** The only files that `/docs/assets` serves; all are our own or from an installed package, so the page works offline. */
const assets: Record<string, string> = {
  // Resolved, never imported: the package's entry would run the whole page here.
  'swagger-ui.css': fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
  'swagger-ui-bundle.js': fileURLToPath(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  'page.js': ownFile('page.js'),
}

/** The documentation page `/docs` and the OpenAPI document `/openapi.json`; neither needs a key. */
export function docsRoutes(config: Config, app: () => AnyElysia) {
  let document: object | undefined
  return new Elysia({ detail: { hide: true } })
    .get('/openapi.json', async () => {
      // The generator is loaded only when somebody asks for the document.
      const { openApiDocument } = await import('./openapi.ts')
      document ??= openApiDocument(app(), config)
      return document
    })
    .get('/docs', ({ set }) => page(ownFile('page.html'), set.headers))
    .get('/docs/assets/:file', ({ params, set }) => {
      const path = assets[params.file]
      if (!path) throw notFound('File')
      return page(path, set.headers)
    })
}

function page(path: string, headers: Record<string, unknown>): Response {
  return new Response(Bun.file(path), {
    headers: { ...(headers as Record<string, string>), 'content-security-policy': pagePolicy },
  })
}

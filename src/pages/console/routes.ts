import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import { notFound } from '../../core/errors.ts'
import { type CachedContent, cachedContent } from '../../http/cached-content.ts'
import { strictPagePolicy } from '../../http/security-headers.ts'

/** The content below `/console`, by path. */
type Files = Record<string, CachedContent>

/** Serves the page that shows partners their keys' activity (decisions §18). The page uses only the partner API. */
export function consoleRoutes() {
  let files: Promise<Files> | undefined
  const serve = async ({ path, request, set }: RequestContext) => {
    files ??= makeFiles()
    const file = (await files)[path.replace(/\/$/, '')]
    if (!file) throw notFound('File')
    const headers = set.headers as Record<string, string>
    return file.respond(request, { ...headers, 'content-security-policy': strictPagePolicy })
  }
  return new Elysia({ detail: { hide: true } }).get('/console', serve).get('/console/:file', serve)
}

interface RequestContext {
  path: string
  request: Request
  set: { headers: object }
}

/** Builds the page on the first request, so that no separate build is needed. */
async function makeFiles(): Promise<Files> {
  const page = (name: string) => readFile(new URL(`page/${name}`, import.meta.url))
  const chartStyle = fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css'))
  return {
    '/console': file(await page('index.html'), 'text/html'),
    '/console/console.css': file(await page('console.css'), 'text/css'),
    '/console/chart.css': file(await readFile(chartStyle), 'text/css'),
    '/console/console.js': file(await bundle(), 'text/javascript'),
  }
}

async function bundle(): Promise<Uint8Array<ArrayBuffer>> {
  const entry = fileURLToPath(new URL('page/main.tsx', import.meta.url))
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser', minify: true })
  const [script] = outputs
  if (!script) throw new Error('The console was not built')
  return new Uint8Array(await script.arrayBuffer())
}

function file(bytes: Uint8Array, contentType: string): CachedContent {
  return cachedContent(new Uint8Array(bytes), `${contentType}; charset=utf-8`)
}

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import { cachedContent } from '../../http/cached-content.ts'
import { type Files, loadOnce, serveFiles } from '../files.ts'

/**
 * Routes of the console, which shows partners their keys' activity (decisions §18). The console uses only the partner
 * API.
 */
export function consoleRoutes() {
  const files = loadOnce(makeFiles)
  const serve = serveFiles(async (path) => (await files())[path])
  return new Elysia({ detail: { hide: true } }).get('/console', serve).get('/console/:file', serve)
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

function file(bytes: Uint8Array, contentType: string) {
  return cachedContent(new Uint8Array(bytes), `${contentType}; charset=utf-8`)
}

import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Elysia } from 'elysia'
import type { Config } from '../../core/config.ts'
import { cacheFor } from '../../platform/time-limits.ts'
import { type Files, serveFiles, textFile } from '../files.ts'

/**
 * Routes of the console, which shows partners their keys' activity (decisions §18). The console uses only the partner
 * API.
 */
export function consoleRoutes({ publicUrl }: Pick<Config, 'publicUrl'>) {
  const files = cacheFor(Number.POSITIVE_INFINITY, () => makeFiles(publicUrl))
  const serve = serveFiles(async (path) => (await files())[path])
  return new Elysia({ detail: { hide: true } }).get('/console', serve).get('/console/:file', serve)
}

/** Builds the page on the first request, so that no separate build is needed. */
async function makeFiles(publicUrl: string): Promise<Files> {
  const page = (name: string) => readFile(new URL(`page/${name}`, import.meta.url), 'utf8')
  const chartStyle = fileURLToPath(import.meta.resolve('uplot/dist/uPlot.min.css'))
  return {
    '/console': textFile(
      (await page('index.html')).replace('{publicUrl}', Bun.escapeHTML(publicUrl)),
      'text/html',
    ),
    '/console/console.css': textFile(await page('console.css'), 'text/css'),
    '/console/chart.css': textFile(await readFile(chartStyle, 'utf8'), 'text/css'),
    '/console/console.js': textFile(await bundle(), 'text/javascript'),
  }
}

async function bundle(): Promise<string> {
  const entry = fileURLToPath(new URL('page/main.tsx', import.meta.url))
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser', minify: true })
  const [script] = outputs
  if (!script) throw new Error('The console was not built')
  return script.text()
}
